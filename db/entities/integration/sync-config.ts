/** Kinds of record that may be exchanged with a provider, each in two directions. */
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

/** Destination of the exports of a connection. A platform-managed one has the installation's bucket and a prefix of its own. */
export interface ExportBucket {
  bucket: string | null;
  region: string | null;
  key_prefix: string;
  compression: string;
  encryption: string;
  is_platform_managed: boolean;
}

/** Exchanges of a connection, complete: members that were not sent are off or null. spec: platform §13 `sync_config` */
export type SyncConfig = Record<SyncedEntity, SyncDirections> & {
  aws_marketplace: { region: string } | null;
  invoice_sync_settings: InvoiceSyncSettings | null;
  s3: ExportBucket | null;
};
