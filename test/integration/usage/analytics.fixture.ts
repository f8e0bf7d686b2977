import { expect } from 'vitest';
import type { Api } from '../../support/app.ts';
import { created } from '../../support/billing.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came over the wire
export type Wire = any;

let count = 0;
/** Tiers of the calls of the basic offer. */
export const tiers = [
  { up_to: 10, unit_amount: '1' },
  { up_to: null, unit_amount: '0.3333' },
];
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
  const made = {
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
  /** A plan of tiered calls with five free, the maximum of storage and packages of text messages to some countries. */
  async function basicOffer() {
    const basic = await made.plan();
    const calls = await made.feature(
      'calls',
      { type: 'SUM', field: 'n' },
      { unit_singular: 'call', unit_plural: 'calls' },
    );
    const storage = await made.feature(
      'storage',
      { type: 'MAX', field: 'gb' },
      { reporting_unit: { unit_singular: 'TB', unit_plural: 'TB', conversion_rate: '0.001' } },
    );
    const sms = await made.feature('sms');
    const owner = { entity_type: 'PLAN', entity_id: basic.id };
    await usagePrice(calls, { ...owner, billing_model: 'TIERED', tier_mode: 'SLAB', tiers });
    await usagePrice(storage, { ...owner, amount: '0.015' });
    await usagePrice(sms, {
      ...owner,
      billing_model: 'PACKAGE',
      amount: '5',
      transform_quantity: { divide_by: 3, round: 'up' },
      filter_values: { country: ['de', 'fr'] },
    });
    await created(api, '/entitlements', {
      plan_id: basic.id,
      feature_id: calls.id,
      feature_type: 'metered',
      usage_limit: 5,
    });
    return { basic, calls, storage, sms };
  }
  return { ...made, basicOffer };
}

/** An instant of January 2026. */
export const at = (day: number, time = '12:00:00') => `2026-01-${String(day).padStart(2, '0')}T${time}Z`;

export const january = { start_time: '2026-01-01T00:00:00Z', end_time: '2026-02-01T00:00:00Z' };
