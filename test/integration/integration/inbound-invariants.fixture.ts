import { inSqlTransaction } from '../../../db/transaction.ts';
import { keepNotifications } from '../../../services/integration/inbound-event.ts';
import type { Api } from '../../support/app.ts';
import { created } from '../../support/billing.ts';
import type { TestDatabase } from '../../support/database.ts';
import type { Planting } from '../lifecycle/invariants.fixture.ts';

/** A notification through a connection that is of no concern here; answers its id. */
export async function keptNotification(base: TestDatabase, api: Api): Promise<string | undefined> {
  const { id: connectionId } = await created(api, '/connections', {
    name: 'Stripe',
    provider_type: 'stripe',
    encrypted_secret_data: { publishable_key: 'pk_test_1', secret_key: 'sk_test_1' },
  });
  const event = { providerEventId: 'evt_1', eventType: 'product.created', marker: null, providerIds: [], headers: {} };
  const kept = { ...event, body: Buffer.from('{}'), receivedAt: new Date().toISOString(), outcome: 'ignored' } as const;
  return inSqlTransaction(base.database, base.scope, async (tx) => {
    await keepNotifications(tx, [{ ...kept, connectionId, provider: 'stripe' }]);
    const [row] = await tx.rows<{ id: string }>('select id from inbound_event');
    return row?.id;
  });
}

/** Broken rules of notifications. */
export const inboundPlantings: Planting[] = [
  {
    id: 'I23',
    what: 'a notification that nobody passes on',
    sql: `update inbound_event set outcome = null, done_at = null, due_at = received_at, received_at = received_at - interval '26 hours' where id = '$1'`,
    by: 'notificationId',
  },
  {
    id: 'I23',
    what: 'a notification of which nobody knows what became',
    sql: `update inbound_event set outcome = null where id = '$1'`,
    by: 'notificationId',
  },
];
