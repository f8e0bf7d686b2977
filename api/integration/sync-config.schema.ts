import { z } from 'zod';
import {
  type SyncConfig,
  type SyncDirections,
  type SyncedEntity,
  syncedEntities,
} from '../../db/entities/integration/sync-config.ts';
import { badField } from '../../db/rows/record.ts';
import type { Scope } from '../../db/scope.ts';
import { syncConfig } from '../../services/integration/connection-config.ts';
import { billingPeriods } from '../catalogue/price-input.schema.ts';

const accounting: ReadonlySet<string> = new Set(['quickbooks', 'zoho_books']);
const maxCustomFields = 50;

/** The direction in which an entity is never exchanged. spec: platform §13 `sync_config` */
const neverSynced: Partial<Record<SyncedEntity, keyof SyncDirections>> = {
  plan: 'outbound',
  subscription: 'outbound',
  invoice: 'inbound',
  deal: 'inbound',
  quote: 'inbound',
  price: 'inbound',
};

const text = () => z.string().trim().min(1, 'must not be empty').max(255);
const flag = (entity: SyncedEntity, direction: keyof SyncDirections) => {
  const message = `must not be true: there is no ${direction} sync of ${entity}; leave it out`;
  return z
    .boolean()
    .nullish()
    .refine((on) => !on || neverSynced[entity] !== direction, message);
};
const directionsInput = (entity: SyncedEntity) =>
  z.object({ inbound: flag(entity, 'inbound'), outbound: flag(entity, 'outbound') }).nullish();

/** Becomes part of a host name when AWS is called, so it holds nothing else. */
const region = z.string().regex(/^[a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?$/, 'must be a region, such as eu-central-1');

const bucketInput = z
  .object({
    bucket: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$/, 'must be the name of a bucket')
      .nullish(),
    region: region.nullish(),
    key_prefix: z
      .string()
      .max(255)
      .regex(/^[A-Za-z0-9!_.*'()/-]*$/, "must have only letters, digits and ! _ . * ' ( ) / -")
      .refine((prefix) => !prefix.includes('..'), 'must not contain ..')
      .nullish(),
    compression: z.enum(['none', 'gzip']).nullish(),
    encryption: z.enum(['AES256', 'aws:kms', 'aws:kms:dsse']).nullish(),
    is_platform_managed: z.boolean().nullish(),
    is_flexprice_managed: z.boolean().nullish().describe('The same as is_platform_managed.'),
  })
  .superRefine((bucket, context) => {
    const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    const [own, published] = [bucket.is_platform_managed ?? null, bucket.is_flexprice_managed ?? null];
    if (own !== null && published !== null && own !== published) {
      refuse('is_flexprice_managed', 'must not differ from is_platform_managed; send one of them');
    }
    if (own ?? published) return;
    if (!bucket.bucket) refuse('bucket', 'is required unless is_platform_managed');
    if (!bucket.region) refuse('region', 'is required unless is_platform_managed');
  });

const customFields = z
  .array(z.object({ field: text(), metadata_key: text(), source: z.enum(['customer', 'invoice']) }))
  .max(maxCustomFields, `must have at most ${maxCustomFields} entries`)
  .superRefine((entries, context) => {
    for (const [index, { field }] of entries.entries()) {
      if (entries.findIndex((other) => other.field === field) === index) continue;
      context.addIssue({ code: 'custom', path: [index, 'field'], message: `must not name ${field} twice` });
    }
  });

const invoiceSettingsInput = z.object({
  normalize_fixed_to: z.enum(billingPeriods).nullish(),
  service_period_custom_fields: z
    .object({ start_field_id: text().nullish(), end_field_id: text().nullish() })
    .superRefine(({ start_field_id: start, end_field_id: end }, context) => {
      if (Boolean(start) === Boolean(end)) return;
      const path = [start ? 'end_field_id' : 'start_field_id'];
      context.addIssue({ code: 'custom', path, message: 'is required with the other; send both or neither' });
    })
    .nullish(),
  metadata_custom_fields: customFields.nullish(),
  payment_mode: text().nullish(),
  deposit_to_account_id: text().nullish(),
  global_custom_fields: z
    .union([z.record(z.string(), z.unknown()), z.array(z.unknown()).max(maxCustomFields)])
    .refine((fields) => !hasLongNumber(fields), 'must have numbers of more than 15 digits as strings')
    .nullish(),
});

/** Numbers that no float holds are no plain values any more. */
function hasLongNumber(value: unknown): boolean {
  if (JSON.isRawJSON(value)) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(hasLongNumber);
}

type DirectionInputs = { [Entity in SyncedEntity]: ReturnType<typeof directionsInput> };
const directionInputs = Object.fromEntries(
  syncedEntities.map((entity) => [entity, directionsInput(entity)]),
) as DirectionInputs;

/** What is to be exchanged, as it is sent: whatever is left out is off. spec: platform §13 */
export const syncConfigInput = z
  .object({
    ...directionInputs,
    aws_marketplace: z.object({ region }).nullish(),
    invoice_sync_settings: invoiceSettingsInput.nullish(),
    s3: bucketInput.nullish(),
  })
  .nullish();

/**
 * The complete configuration that was sent, for a provider. Throws `validation_error` for what it does not take or lacks.
 * spec: platform §13
 */
export function readSyncConfig(
  provider: string,
  sent: z.output<typeof syncConfigInput>,
  scope: Pick<Scope, 'tenantId' | 'environmentId'>,
): SyncConfig {
  const directions = syncedEntities.flatMap((entity) => {
    const given = sent?.[entity];
    return given ? [[entity, { inbound: given.inbound ?? false, outbound: given.outbound ?? false }]] : [];
  });
  const config = syncConfig({
    ...(Object.fromEntries(directions) as Partial<SyncConfig>),
    aws_marketplace: sent?.aws_marketplace ?? null,
    invoice_sync_settings: invoiceSettings(provider, sent?.invoice_sync_settings),
    s3: exportBucket(sent?.s3, scope),
  });
  if (provider === 'aws_marketplace' && !config.aws_marketplace) {
    throw badField('sync_config.aws_marketplace.region', 'is required for aws_marketplace, such as us-east-1');
  }
  return config;
}

function invoiceSettings(
  provider: string,
  sent: z.output<typeof invoiceSettingsInput> | null | undefined,
): SyncConfig['invoice_sync_settings'] {
  if (!sent) return null;
  for (const member of ['payment_mode', 'deposit_to_account_id', 'global_custom_fields'] as const) {
    if (!sent[member] || accounting.has(provider)) continue;
    const problem = `is for ${[...accounting].join(' and ')} only; leave it out`;
    throw badField(`sync_config.invoice_sync_settings.${member}`, problem);
  }
  const { start_field_id: start, end_field_id: end } = sent.service_period_custom_fields ?? {};
  return {
    normalize_fixed_to: sent.normalize_fixed_to ?? null,
    service_period_custom_fields: start && end ? { start_field_id: start, end_field_id: end } : null,
    metadata_custom_fields: sent.metadata_custom_fields ?? [],
    payment_mode: sent.payment_mode ?? null,
    deposit_to_account_id: sent.deposit_to_account_id ?? null,
    global_custom_fields: sent.global_custom_fields ?? null,
  };
}

/** A platform-managed bucket is the installation's: of what was sent only how files are written counts. */
function exportBucket(
  sent: z.output<typeof bucketInput> | null | undefined,
  { tenantId, environmentId }: Pick<Scope, 'tenantId' | 'environmentId'>,
): SyncConfig['s3'] {
  if (!sent) return null;
  const isManaged = sent.is_platform_managed ?? sent.is_flexprice_managed ?? false;
  return {
    bucket: isManaged ? null : (sent.bucket ?? null),
    region: isManaged ? null : (sent.region ?? null),
    key_prefix: isManaged ? `${tenantId}/${environmentId}` : (sent.key_prefix ?? ''),
    compression: sent.compression ?? 'none',
    encryption: sent.encryption ?? 'AES256',
    is_platform_managed: isManaged,
  };
}

const directions = z.object({ inbound: z.boolean(), outbound: z.boolean() });
type DirectionOutputs = { [Entity in SyncedEntity]: typeof directions };

/** The wire form: every key, also of what is off. spec: platform §1.4 */
export const syncConfigOutput = z
  .object({
    ...(Object.fromEntries(syncedEntities.map((entity) => [entity, directions])) as DirectionOutputs),
    aws_marketplace: z.object({ region: z.string() }).nullable(),
    invoice_sync_settings: z
      .object({
        normalize_fixed_to: z.string().nullable(),
        service_period_custom_fields: z.object({ start_field_id: z.string(), end_field_id: z.string() }).nullable(),
        metadata_custom_fields: z.array(z.object({ field: z.string(), metadata_key: z.string(), source: z.string() })),
        payment_mode: z.string().nullable(),
        deposit_to_account_id: z.string().nullable(),
        global_custom_fields: z.unknown().nullable(),
      })
      .nullable(),
    s3: z
      .object({
        bucket: z.string().nullable(),
        region: z.string().nullable(),
        key_prefix: z.string(),
        compression: z.string(),
        encryption: z.string(),
        is_platform_managed: z.boolean(),
        is_flexprice_managed: z.boolean(),
      })
      .nullable(),
  })
  .meta({ id: 'SyncConfig' });

export function viewSyncConfig(config: SyncConfig): z.output<typeof syncConfigOutput> {
  return { ...config, s3: config.s3 && { ...config.s3, is_flexprice_managed: config.s3.is_platform_managed } };
}
