/** The providers there are connections to. spec: platform §13 */
export const providers = [
  'stripe',
  's3',
  'hubspot',
  'razorpay',
  'chargebee',
  'quickbooks',
  'zoho_books',
  'nomod',
  'moyasar',
  'paddle',
  'whop',
  'tabs',
  'aws_marketplace',
  'gcp_marketplace',
  'azure_marketplace',
] as const;

export type Provider = (typeof providers)[number];

/** What may be exchanged with a provider, each in two directions. */
export const syncedEntities = [
  'customer',
  'deal',
  'invoice',
  'payment',
  'plan',
  'price',
  'quote',
  'subscription',
] as const;

export type SyncedEntity = (typeof syncedEntities)[number];

export interface SyncDirections {
  inbound: boolean;
  outbound: boolean;
}

export interface InvoiceSyncSettings {
  normalize_fixed_to: string | null;
  service_period_custom_fields: { start_field_id: string; end_field_id: string } | null;
  metadata_custom_fields: { field: string; metadata_key: string; source: string }[];
  payment_mode: string | null;
  deposit_to_account_id: string | null;
  /** As the accounting provider wants them: its interface shows no shape. */
  global_custom_fields: Record<string, unknown> | unknown[] | null;
}

/** Where exports of a connection go. A platform-managed one has the installation's bucket and a prefix of its own. */
export interface ExportBucket {
  bucket: string | null;
  region: string | null;
  key_prefix: string;
  compression: string;
  encryption: string;
  is_platform_managed: boolean;
}

/** What a connection exchanges, complete: whatever was not sent is off or null. spec: platform §13 `sync_config` */
export type SyncConfig = Record<SyncedEntity, SyncDirections> & {
  aws_marketplace: { region: string } | null;
  invoice_sync_settings: InvoiceSyncSettings | null;
  s3: ExportBucket | null;
};

/** Everything off: what an absent `sync_config` means. `on` names what is not. */
export function syncConfig(on: Partial<SyncConfig> = {}): SyncConfig {
  const off = Object.fromEntries(syncedEntities.map((entity) => [entity, directions()]));
  return {
    ...(off as Record<SyncedEntity, SyncDirections>),
    aws_marketplace: null,
    invoice_sync_settings: null,
    s3: null,
    ...on,
  };
}

function directions(inbound = false, outbound = false): SyncDirections {
  return { inbound, outbound };
}

const takesInvoices = { invoice: directions(false, true) };
const takesBoth = { customer: directions(false, true), ...takesInvoices };

/** What each provider can exchange; those that are not listed have no capabilities to show. spec: platform §13 Capabilities */
export const capabilities: ReadonlyMap<string, SyncConfig> = new Map<Provider, SyncConfig>([
  ['stripe', syncConfig({ customer: directions(true, true), ...takesInvoices })],
  ['paddle', syncConfig({ customer: directions(true, true), invoice: directions(true, true) })],
  ['hubspot', syncConfig({ customer: directions(true, false), ...takesInvoices })],
  ['razorpay', syncConfig(takesBoth)],
  ['chargebee', syncConfig(takesBoth)],
  ['quickbooks', syncConfig(takesBoth)],
  ['nomod', syncConfig(takesBoth)],
  ['whop', syncConfig(takesBoth)],
  ['tabs', syncConfig(takesBoth)],
  ['zoho_books', syncConfig(takesInvoices)],
  ['moyasar', syncConfig(takesInvoices)],
]);
