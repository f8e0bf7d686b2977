import { disagreement, type GrantTerms, modeOf } from '../../../billing/allowance/grant.ts';
import { Entitlement } from '../../../db/entities/catalogue/entitlement.ts';
import type { Meter } from '../../../db/entities/catalogue/meter.ts';
import { Price } from '../../../db/entities/catalogue/price.ts';
import { badField } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { grantOf } from './entitlement-grant-terms.ts';
import { meteredPartsHeld } from './entitlement-part.ts';

/** The members of a grant configuration that a caller sent; absent ones are undefined. */
export interface SentGrant {
  measure?: string | undefined;
  quota?: string | undefined;
  durationUnit?: string | undefined;
  durationValue?: number | undefined;
  allocation?: string | undefined;
}

const fieldOf: Record<keyof SentGrant, string> = {
  measure: 'grant_measure',
  quota: 'grant_quota',
  durationUnit: 'grant_duration_unit',
  durationValue: 'grant_duration_value',
  allocation: 'grant_allocation_behavior',
};

/** The first member of a grant configuration that was sent. */
export function firstGrantField(sent: SentGrant | undefined): string | null {
  const [member] = Object.keys(fieldOf).filter((key) => sent?.[key as keyof SentGrant] !== undefined);
  return member ? fieldOf[member as keyof SentGrant] : null;
}

/**
 * The grant configuration that the sent members make up, whole or not at all. Throws `validation_error` for a part of one.
 * spec: catalogue-and-metering §9.1, §13 row 45
 */
export function grantFrom(sent: SentGrant | undefined, path = ''): GrantTerms | null {
  if (!sent || firstGrantField(sent) === null) return null;
  for (const member of ['measure', 'quota', 'durationUnit'] as const) {
    if (sent[member] === undefined)
      throw badField(
        `${path}${fieldOf[member]}`,
        'is required with any other grant member: a grant is whole or absent',
      );
  }
  const { measure, quota, durationUnit, durationValue, allocation } = sent;
  if (durationUnit === 'subscription_period') {
    for (const member of ['durationValue', 'allocation'] as const) {
      if (sent[member] !== undefined)
        throw badField(`${path}${fieldOf[member]}`, 'does not go with subscription_period; leave it out');
    }
  } else if (durationValue === undefined) {
    throw badField(`${path}grant_duration_value`, `is required with grant_duration_unit ${durationUnit}`);
  }
  return {
    measure: measure as GrantTerms['measure'],
    quota: quota!,
    durationUnit: durationUnit as GrantTerms['durationUnit'],
    durationValue: durationValue ?? null,
    allocation: (allocation ?? 'first_usage') as GrantTerms['allocation'],
  };
}

/** What was sent over what is stored; a whole-period budget keeps no length. */
export function mergedGrant(stored: GrantTerms | null, sent: SentGrant): SentGrant {
  if (!stored) return sent;
  const { measure, quota, durationUnit, durationValue, allocation } = stored;
  const unit = sent.durationUnit ?? durationUnit;
  const kept = unit === 'subscription_period' ? {} : { durationValue: durationValue ?? undefined, allocation };
  const given = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined));
  return { measure, quota, durationUnit, ...kept, ...given };
}

/** An entitlement that is about to have a grant configuration, or none. */
export interface GrantHolder {
  /** Absent for a new one. */
  id?: string;
  entityType: string;
  entityId: string;
  featureId: string;
  featureType: string;
  aggregationMode: string;
  grant: GrantTerms | null;
}

/**
 * Refuses a grant configuration that does not fit its feature, its meter or the other entitlements of the feature that it meets:
 * those of its owner, and for a subscription's those of its plan and add-ons. `beside` are others of the same request.
 * Throws `validation_error`. spec: catalogue-and-metering §9.1, §13 row 45
 */
export async function checkGrant(
  tx: Transaction,
  holder: GrantHolder,
  meter: Meter | null,
  path = '',
  beside: readonly GrantHolder[] = [],
): Promise<void> {
  const { grant, aggregationMode } = holder;
  if (!grant && aggregationMode === 'parallel') {
    throw badField(`${path}aggregation_mode`, 'parallel needs a grant configuration; send additive or leave it out');
  }
  if (grant) await checkMeter(tx, holder, grant, meter, path);
  if (holder.featureType !== 'metered') return;
  for (const sibling of [...(await siblingsOf(tx, holder)), ...beside.filter((other) => isBeside(holder, other))]) {
    const field = siblingDisagreement(holder, sibling);
    if (field)
      throw badField(`${path}${field}`, `must be what the other entitlements of feature ${holder.featureId} here have`);
  }
}

async function checkMeter(
  tx: Transaction,
  holder: GrantHolder,
  grant: GrantTerms,
  meter: Meter | null,
  path: string,
): Promise<void> {
  if (holder.featureType !== 'metered' || !meter)
    throw badField(`${path}grant_measure`, `belongs to metered features, not to a ${holder.featureType} one`);
  const { type, bucket_size: bucketSize } = meter.aggregation;
  if (type === 'MAX' || bucketSize) {
    const what = bucketSize ? 'a bucketed meter' : 'a MAX meter';
    throw badField(`${path}grant_measure`, `cannot be used with ${what}; grant a feature on another meter`);
  }
  if (grant.measure !== 'amount') return;
  const where = {
    environmentId: tx.scope.environmentId,
    meterId: meter.id,
    billingModel: 'TIERED',
    status: 'published',
  };
  const tiered = await tx.em.findOne(Price, where);
  if (tiered)
    throw badField(
      `${path}grant_measure`,
      `must be quantity: price ${tiered.id} of the meter is tiered, and money over it is not told apart`,
    );
}

async function siblingsOf(
  tx: Transaction,
  holder: GrantHolder,
): Promise<Omit<GrantHolder, 'entityType' | 'entityId'>[]> {
  const { environmentId } = tx.scope;
  const { id, entityType, entityId, featureId, featureType } = holder;
  if (entityType === 'SUBSCRIPTION') {
    const parts = await meteredPartsHeld(tx, environmentId, entityId);
    return parts.filter((part) => part.featureId === featureId && part.id !== id && part.parentEntitlementId === null);
  }
  const where = { environmentId, status: 'published', entityType, entityId, featureId };
  const rows = await tx.em.find(Entitlement, where);
  return rows
    .filter((row) => row.id !== id)
    .map((row) => ({ id: row.id, featureId, featureType, aggregationMode: row.aggregationMode, grant: grantOf(row) }));
}

function isBeside(holder: GrantHolder, other: GrantHolder): boolean {
  const { entityType, entityId, featureId } = holder;
  return other.entityType === entityType && other.entityId === entityId && other.featureId === featureId;
}

/** A plain limit beside budgets needs only the same mode: the budgets take its place. */
export function siblingDisagreement(
  a: Pick<GrantHolder, 'aggregationMode' | 'grant'>,
  b: Pick<GrantHolder, 'aggregationMode' | 'grant'>,
): string | null {
  const [mode, other] = [modeOf(a.aggregationMode), modeOf(b.aggregationMode)];
  if (!a.grant || !b.grant) return mode === other ? null : 'aggregation_mode';
  return disagreement({ ...a.grant, mode }, { ...b.grant, mode: other });
}
