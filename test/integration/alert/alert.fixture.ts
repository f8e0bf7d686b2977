import { expect } from 'vitest';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { created, type TestPlatform } from '../../support/billing.ts';
import { usageWatch } from '../../support/usage-watch.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came over the wire
type Wire = any;

/** Makes and looks at what alerts are about. */
export function alertFixture(platform: TestPlatform) {
  const { api, base } = platform;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came over the wire
  const call = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object) => api<any>(method, path, body);

  /** Lets everything that moved be looked at. */
  const watched = usageWatch(platform);
  const setting = (entity: object, config: object) =>
    created<Wire>(api, '/alerts/setting', { ...entity, config: { alert_enabled: true, ...config } });
  const enable = async (key: string, value: object = { alert_enabled: true }) => {
    const answer = await call('PUT', `/settings/${key}`, { value });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  };
  /** States and values of an entity's log, the oldest first. */
  async function logged(entityId: string, alertType?: string): Promise<[string, string][]> {
    const body = { entity_id: entityId, order: 'asc', limit: 1000, ...(alertType ? { alert_type: alertType } : {}) };
    const { items } = await created<Wire>(api, '/alerts/search', body);
    return items.map((item: Wire) => [item.alert_status, item.alert_info.value_at_time]);
  }
  const wallet = (customerId: string, fields: object = {}) =>
    created<Wire>(api, '/wallets', { customer_id: customerId, currency: 'usd', ...fields });
  const topUp = (id: string, credits: string) =>
    created<Wire>(api, `/wallets/${id}/top-up`, { transaction_reason: 'FREE_CREDIT_GRANT', credits_to_add: credits });
  const debit = (id: string, credits: string) =>
    created<Wire>(api, `/wallets/${id}/debit`, {
      credits,
      transaction_reason: 'MANUAL_BALANCE_DEBIT',
      idempotency_key: `d-${Math.random()}`,
    });
  /** Events of an object by name, with their bodies, in order. */
  async function told(entityId: string, ...names: string[]): Promise<Wire[]> {
    const rows = await inSqlTransaction(base.database, base.scope, (tx) =>
      tx.rows<Wire>('select event_name, payload from outbox_event where entity_id = $1 order by sequence', [entityId]),
    );
    return rows.filter((row) => names.includes(row.event_name)).map((row) => row.payload);
  }
  return { call, watched, setting, enable, logged, wallet, topUp, debit, told };
}
