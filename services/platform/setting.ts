import { realNow } from '../../db/clock.ts';
import { Setting } from '../../db/entities/platform/setting.ts';
import { missing, newRecord, touch } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { writeAudit } from './audit.ts';
import { type SettingKey, type SettingValue, settingDefaults, tenantSettings } from './setting-defaults.ts';

/**
 * A setting of the environment (or of the tenant, for its settings) with its documented defaults under what is stored.
 *
 * Use as `const { suffix_length } = await readSetting(tx, 'invoice_config');` spec: platform §12
 */
export async function readSetting<Key extends SettingKey>(tx: Transaction, key: Key): Promise<SettingValue<Key>> {
  return effective(key, await storedSetting(tx, key));
}

/** The stored row of a setting, or null while its defaults apply. */
export async function storedSetting(tx: Transaction, key: SettingKey): Promise<Setting | null> {
  return tx.em.findOne(Setting, { key, environmentId: placeOf(tx, key), status: 'published' });
}

/** Defaults under what is stored. */
export function effective<Key extends SettingKey>(key: Key, stored: Setting | null): SettingValue<Key> {
  return { ...settingDefaults[key], ...stored?.value } as SettingValue<Key>;
}

/**
 * Merges members into a setting: absent ones stay, null goes back to its default. `check` gets the merged value and throws
 * when it cannot be used; nothing is stored then. spec: platform §12 Merge
 */
export async function writeSetting(
  tx: Transaction,
  key: SettingKey,
  change: Readonly<Record<string, unknown>>,
  check: (merged: Record<string, unknown>) => void,
): Promise<Setting> {
  const stored = await storedSetting(tx, key);
  const members = Object.entries({ ...stored?.value, ...change }).filter(([, value]) => value !== null);
  const value = Object.fromEntries(members);
  check({ ...settingDefaults[key], ...value });
  const setting =
    stored ?? tx.em.create(Setting, { ...newRecord(tx, 'setting'), environmentId: placeOf(tx, key), key, value });
  setting.value = value;
  touch(tx, setting);
  await tx.em.flush();
  await audit(tx, setting, 'updated');
  return setting;
}

/** Removes what is stored: the defaults apply again. Throws `not_found` when nothing is. spec: platform §12 */
export async function deleteSetting(tx: Transaction, key: SettingKey): Promise<void> {
  const stored = await storedSetting(tx, key);
  if (!stored) throw missing('setting', key, 'key');
  tx.em.remove(stored);
  await tx.em.flush();
  await audit(tx, stored, 'deleted');
}

/** A tenant's setting is kept under the tenant's id, which no environment has. */
function placeOf(tx: Transaction, key: SettingKey): string {
  return tenantSettings.has(key) ? tx.scope.tenantId : tx.scope.environmentId;
}

async function audit(tx: Transaction, setting: Setting, action: string): Promise<void> {
  const detail = { key: setting.key };
  const record = { objectType: 'setting', objectId: setting.id, action, occurredAt: realNow(), detail };
  await writeAudit(tx, tx.scope, [record]);
}
