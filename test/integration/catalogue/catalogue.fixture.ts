import { expect } from 'vitest';
import { inTransaction } from '../../../db/transaction.ts';
import type { TestApi } from '../../support/api.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came over the wire
type Wire = any;

let count = 0;

/** Makes catalogue records through the API with everything a test does not care about filled in. */
export function catalogue({ call, database, scope }: TestApi) {
  async function create(path: string, body: object): Promise<Wire> {
    const answer = await call('POST', path, { body });
    expect(answer.body, JSON.stringify(answer.body)).toMatchObject({ id: expect.any(String) });
    expect(answer.status).toBe(201);
    return answer.body;
  }
  return {
    createPlan: (fields: object = {}) => create('/v1/plans', { name: `Plan ${++count}`, ...fields }),
    createPrice: (plan: { id: string }, fields: object = {}) =>
      create('/v1/prices', { ...flatPrice, plan_id: plan.id, ...fields }),
    createFeature(fields: { type?: string } & Record<string, unknown> = {}): Promise<Wire> {
      const meter = {
        name: 'Calls',
        event_name: 'call',
        aggregation: { type: 'COUNT' },
        reset_usage: 'BILLING_PERIOD',
      };
      const metered = (fields.type ?? 'metered') === 'metered' && !fields.meter_id;
      return create('/v1/features', {
        name: `Feature ${++count}`,
        type: 'metered',
        ...(metered ? { meter } : {}),
        ...fields,
      });
    },
    createEntitlement: (plan: { id: string }, feature: { id: string; type: string }, fields: object = {}) =>
      create('/v1/entitlements', { plan_id: plan.id, feature_id: feature.id, feature_type: feature.type, ...fields }),
    /** The audited actions of an object, in order. */
    async audited(id: string): Promise<string[]> {
      const text = 'select action from audit_entry where object_id = $1 order by id';
      const rows = await inTransaction(database, scope, (tx) => tx.rows<{ action: string }>(text, [id]));
      return rows.map((row) => row.action);
    },
    /** The outbound events about an object, in order, as they are delivered. */
    async emitted(id: string): Promise<Wire[]> {
      const text = 'select payload from outbox_event where entity_id = $1 order by sequence';
      const rows = await inTransaction(database, scope, (tx) => tx.rows<{ payload: Wire }>(text, [id]));
      return rows.map((row) => row.payload);
    },
  };
}

/** A valid price but for its owner. */
export const flatPrice = {
  type: 'FIXED',
  billing_model: 'FLAT_FEE',
  billing_period: 'MONTHLY',
  invoice_cadence: 'ADVANCE',
  currency: 'USD',
  amount: '1',
};
