import {
  type SyncConfig,
  type SyncDirections,
  type SyncedEntity,
  syncedEntities,
} from '../../db/entities/integration/sync-config.ts';

/** Everything off: what an absent `sync_config` means. `on` names what is not. */
export function syncConfig(on: Partial<SyncConfig> = {}): SyncConfig {
  const off: SyncDirections = { inbound: false, outbound: false };
  const directions = Object.fromEntries(syncedEntities.map((entity) => [entity, { ...off }]));
  return {
    ...(directions as Record<SyncedEntity, SyncDirections>),
    aws_marketplace: null,
    invoice_sync_settings: null,
    s3: null,
    ...on,
  };
}
