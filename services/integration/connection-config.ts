import {
  type SyncConfig,
  type SyncDirections,
  type SyncedEntity,
  syncedEntities,
} from '../../db/entities/integration/sync-config.ts';
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
