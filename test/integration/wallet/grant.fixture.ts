import { randomUUID } from 'node:crypto';
import type { Api } from '../../support/app.ts';
import { clockedCustomer, created, invoicesOf, subscribe } from '../../support/billing.ts';

let count = 0;

/** How many features were made. */
export const made = () => count;

/** A budget of hours in units. */
export const hours = (quota: string, value = 5, fields: object = {}) => ({
  grant_measure: 'quantity',
  grant_quota: quota,
  grant_duration_unit: 'hour',
  grant_duration_value: value,
  ...fields,
});
export const wholePeriod = (quota: string, fields: object = {}) => ({
  grant_measure: 'quantity',
  grant_quota: quota,
  grant_duration_unit: 'subscription_period',
  ...fields,
});

export interface Metered {
  planId: string;
  featureId: string;
  meterId: string;
  eventName: string;
  priceId: string;
}

/** What tests of budgets make and look at. */
export function grantFixture(api: Api) {
  async function metered(aggregation: object = { type: 'SUM', field: 'n' }, price: object = {}) {
    count += 1;
    const eventName = `call-${count}`;
    const meter = { name: 'Calls', event_name: eventName, aggregation, reset_usage: 'BILLING_PERIOD' };
    const feature = await created<{ id: string; meter_id: string }>(api, '/features', {
      name: `Feature ${count}`,
      type: 'metered',
      meter,
    });
    const plan = await created(api, '/plans', { name: `Plan ${count}` });
    const charged = await created(api, '/prices', {
      plan_id: plan.id,
      type: 'USAGE',
      billing_model: 'FLAT_FEE',
      billing_period: 'MONTHLY',
      invoice_cadence: 'ARREAR',
      currency: 'usd',
      amount: '2',
      meter_id: feature.meter_id,
      start_date: '2020-01-01T00:00:00Z',
      ...price,
    });
    return { planId: plan.id, featureId: feature.id, meterId: feature.meter_id, eventName, priceId: charged.id };
  }
  const grantBody = (on: Metered, fields: object, owner: object = { plan_id: on.planId }) => ({
    ...owner,
    feature_id: on.featureId,
    feature_type: 'metered',
    ...fields,
  });
  const grant = (on: Metered, fields: object, owner?: object) =>
    created<{ id: string }>(api, '/entitlements', grantBody(on, fields, owner));
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came over the wire
  const call = (method: 'GET' | 'POST' | 'PUT', path: string, body?: object) => api<any>(method, path, body);

  async function subscribed(on: Metered, fields: object = {}) {
    const clocked = await clockedCustomer(api, { frozenTime: '2026-04-01T00:00:00Z' });
    const body = { customer_id: clocked.customerId, plan_id: on.planId, collection_method: 'send_invoice', ...fields };
    return { ...clocked, id: (await subscribe(api, body)).id };
  }

  /** Sends `[timestamp, n]` events and gives their ids. */
  async function use(on: Metered, externalId: string, ...usage: [string, number][]): Promise<string[]> {
    const events = usage.map(([timestamp, n]) => ({
      event_name: on.eventName,
      external_customer_id: externalId,
      event_id: randomUUID(),
      timestamp: `2026-${timestamp}Z`,
      properties: { n },
    }));
    await created(api, '/events/bulk', { events });
    return events.map((event) => event.event_id);
  }

  const usageLine = async (id: string, position = -1) => {
    const invoices = await invoicesOf(api, id);
    const { body } = await call('GET', `/invoices/${invoices.at(position)!.id}`);
    return body.line_items.find((line: { price_type: string }) => line.price_type === 'USAGE');
  };
  const usageOf = async (id: string) => (await call('POST', '/subscriptions/usage', { subscription_id: id })).body;

  return { metered, grantBody, grant, call, subscribed, use, usageLine, usageOf };
}
