import { expect } from 'vitest';
import type { Api } from '../support/app.ts';
import { created } from '../support/billing.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came over the wire
export type Wire = any;

let count = 0;
const priceStart = '2020-01-01T00:00:00Z';

/** What analytics are asked about: catalogue records, events and questions through the API. */
export function analytics(api: Api) {
  const usagePrice = (feature: Wire, fields: object) =>
    created<Wire>(api, '/prices', {
      type: 'USAGE',
      billing_model: 'FLAT_FEE',
      billing_period: 'MONTHLY',
      invoice_cadence: 'ARREAR',
      currency: 'usd',
      meter_id: feature.meter_id,
      start_date: priceStart,
      ...fields,
    });
  return {
    plan: () => created<Wire>(api, '/plans', { name: `Plan ${++count}` }),
    /** A metered feature; its events carry its name. */
    feature: (name: string, aggregation: object = { type: 'COUNT' }, fields: object = {}) =>
      created<Wire>(api, '/features', {
        name,
        type: 'metered',
        lookup_key: `feature-${++count}`,
        meter: { name, event_name: name, aggregation, reset_usage: 'BILLING_PERIOD' },
        ...fields,
      }),
    usagePrice,
    costPrice: (costsheet: Wire, feature: Wire, fields: object) =>
      usagePrice(feature, { entity_type: 'COSTSHEET', entity_id: costsheet.id, ...fields }),
    send: (externalId: string, events: Wire[]) =>
      created<Wire>(api, '/events/bulk', {
        events: events.map((event) => ({ external_customer_id: externalId, ...event })),
      }),
    async ask(path: string, body: object): Promise<Wire> {
      const answer = await api<Wire>('POST', path, body);
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      return answer.body;
    },
    async refused(path: string, body: object): Promise<Wire> {
      const answer = await api<Wire>('POST', path, body);
      return [answer.status, answer.body.code, answer.body.message];
    },
  };
}

export const january = { start_time: '2026-01-01T00:00:00Z', end_time: '2026-02-01T00:00:00Z' };
