import { describe, expect, it } from 'vitest';
import { inTransaction } from '../../../db/transaction.ts';
import { advanceTo, clockedCustomer, created, testPlatform } from '../../support/billing.ts';
import { type BilledCustomer, countCalls, firstDraft, invoicesOf, type Wire } from './invoice.fixture.ts';

const platform = await testPlatform();
const { api, base } = platform;

interface CustomCustomer extends BilledCustomer {
  unit: { id: string; code: string };
}

let count = 0;

/** A customer on a clock at 2026-01-15 with 1200 tokens a month in advance and half a token a call in arrear, at 0.05 a token. */
async function customCustomer(options: { subscription?: Record<string, unknown> } = {}): Promise<CustomCustomer> {
  const unit = await created<Wire>(api, '/prices/units', {
    name: 'Token',
    code: `t${String(count++).padStart(2, '0')}`,
    symbol: 'T',
    base_currency: 'usd',
    conversion_rate: '0.05',
  });
  const eventName = `call-${unit.code}`;
  const feature = await created<Wire>(api, '/features', {
    name: eventName,
    type: 'metered',
    meter: { name: 'Calls', event_name: eventName, aggregation: { type: 'COUNT' }, reset_usage: 'BILLING_PERIOD' },
  });
  const plan = await created(api, '/plans', { name: eventName });
  const price = (amount: string) => ({
    plan_id: plan.id,
    currency: 'usd',
    billing_model: 'FLAT_FEE',
    billing_period: 'MONTHLY',
    start_date: '2020-01-01T00:00:00Z',
    price_unit_type: 'CUSTOM',
    price_unit_config: { price_unit: unit.code, amount },
  });
  await created(api, '/prices', { ...price('1200'), type: 'FIXED', invoice_cadence: 'ADVANCE' });
  const usage = { type: 'USAGE', invoice_cadence: 'ARREAR', meter_id: feature.meter_id };
  await created(api, '/prices', { ...price('0.5'), ...usage });
  const customer = await clockedCustomer(api, { frozenTime: '2026-01-15T00:00:00Z' });
  const subscription = await created(api, '/subscriptions', {
    customer_id: customer.customerId,
    plan_id: plan.id,
    currency: 'usd',
    billing_period: 'MONTHLY',
    collection_method: 'send_invoice',
    ...options.subscription,
  });
  return { ...customer, subscriptionId: subscription.id, eventName, unit };
}

async function setRate({ unit }: CustomCustomer, conversion_rate: string): Promise<void> {
  expect(await api('PUT', `/prices/units/${unit.id}`, { conversion_rate })).toMatchObject({ status: 200 });
}
const invoiceOf = async (id: string) => (await api<Wire>('GET', `/invoices/${id}`)).body;
const amountsOf = (invoice: Wire) => invoice.line_items.map((line: Wire) => [line.amount, line.price_unit_amount]);

describe('an invoice in a custom currency', () => {
  it('follows the rate while it is a draft and keeps that of its finalization', async () => {
    const customer = await customCustomer();
    const { unit } = customer;
    const [opening] = await invoicesOf(api, customer.customerId);
    expect(opening).toMatchObject({ invoice_status: 'FINALIZED', total: '60', currency: 'usd' });
    await countCalls(api, customer, 71, '2026-02-01T00:00:00Z');

    const draft = await firstDraft(api, customer);
    expect(draft).toMatchObject({
      subtotal: '61.78',
      price_unit_totals: [{ price_unit: unit.code, price_unit_id: unit.id, conversion_rate: '0.05', amount: '1235.6' }],
      line_items: [
        { amount: '60', price_unit: unit.code, price_unit_id: unit.id, price_unit_amount: '1200' },
        { amount: '1.78', price_unit: unit.code, price_unit_id: unit.id, price_unit_amount: '35.6' },
      ],
    });

    await setRate(customer, '0.06');
    await api('POST', `/invoices/${draft.id}/finalize`);
    const final = await invoiceOf(draft.id);
    expect(final).toMatchObject({
      invoice_status: 'FINALIZED',
      subtotal: '74.13',
      total: '74.13',
      amount_due: '74.13',
      price_unit_totals: [{ price_unit: unit.code, price_unit_id: unit.id, conversion_rate: '0.06', amount: '1235.5' }],
    });
    expect(amountsOf(final)).toEqual([
      ['72', '1200'],
      ['2.13', '35.5'],
    ]);

    await setRate(customer, '0.09');
    expect(await invoiceOf(draft.id)).toEqual(final);
    expect(amountsOf(await invoiceOf(opening.id))).toEqual([['60', '1200']]);
    const { body: explained } = await api<Wire>('GET', `/invoices/${draft.id}/explain`);
    expect(explained.lines.flatMap((line: Wire) => line.steps.map((step: Wire) => step.sentence))).toEqual(
      expect.arrayContaining([
        `One ${unit.code} is worth 0.06 usd: 1200.00 × 0.06 = 72.00 usd.`,
        `One ${unit.code} is worth 0.06 usd: 35.50 × 0.06 = 2.13 usd.`,
      ]),
    );
  });

  it('is finalized by its timer at the rate of that moment, with the usage that came meanwhile', async () => {
    const customer = await customCustomer();
    const draft = await firstDraft(api, customer);
    expect(draft).toMatchObject({ subtotal: '60' });
    await setRate(customer, '0.1');
    await countCalls(api, customer, 7, '2026-02-02T00:00:00Z');
    await advanceTo(api, customer.clockId, '2026-02-15T03:00:00Z');
    const final = await invoiceOf(draft.id);
    expect(final).toMatchObject({ invoice_status: 'FINALIZED', subtotal: '120.35' });
    expect(amountsOf(final)).toEqual([
      ['120', '1200'],
      ['0.35', '3.5'],
    ]);
  });

  it('is previewed at the rate in force, by the same functions', async () => {
    const customer = await customCustomer();
    await countCalls(api, customer, 71, '2026-02-01T00:00:00Z');
    await advanceTo(api, customer.clockId, '2026-02-14T00:00:00Z');
    const previewed = async () =>
      (await api<Wire>('POST', '/invoices/preview', { subscription_id: customer.subscriptionId })).body;
    const at = (price_unit: string) => ({ price_unit, price_unit_id: customer.unit.id });
    expect(await previewed()).toMatchObject({
      subtotal: 61.78,
      price_unit_totals: [{ ...at(customer.unit.code), conversion_rate: '0.05', amount: '1235.6' }],
      line_items: [
        { ...at(customer.unit.code), amount: 60, price_unit_amount: 1200 },
        { ...at(customer.unit.code), amount: 1.78, price_unit_amount: 35.6 },
      ],
    });
    await setRate(customer, '0.06');
    expect(await previewed()).toMatchObject({ subtotal: 74.13 });
    const usage = await api<Wire>('POST', '/subscriptions/usage', { subscription_id: customer.subscriptionId });
    expect(usage.body).toMatchObject({ amount: 2.13, charges: [{ price: { display_price_unit_amount: 'T0.5' } }] });
    expect((await firstDraft(api, customer)).subtotal).toBe('74.13');
  });

  it('charges custom cost × rate where converted amounts had to be cut', async () => {
    const customer = await customCustomer();
    await setRate(customer, '0.000000000000003');
    await countCalls(api, customer, 1, '2026-02-01T00:00:00Z');
    const { body } = await api<Wire>('POST', '/prices/search', { filters: [unitIs(customer.unit.id)], order: 'asc' });
    // Half of the rate has 16 decimals and is shown cut to 15.
    expect(body.items.map((price: Wire) => price.amount)).toEqual(['0.0000000000036', '0.000000000000002']);
    const draft = await firstDraft(api, customer);
    const { body: explained } = await api<Wire>('GET', `/invoices/${draft?.id ?? (await lastOf(customer)).id}/explain`);
    const costs = explained.lines.map((line: Wire) => line.derivation.parts[0].cost);
    expect(costs).toEqual(['0.0000000000036', '0.0000000000000015']);
  });

  it('goes on at the rate in force when its price has ended or its unit is archived', async () => {
    const customer = await customCustomer();
    const { body } = await api<Wire>('POST', '/prices/search', { filters: [unitIs(customer.unit.id)] });
    for (const price of body.items) await api('DELETE', `/prices/${price.id}`, {});
    await setRate(customer, '0.06');
    await api('DELETE', `/prices/units/${customer.unit.id}`);
    await countCalls(api, customer, 71, '2026-02-01T00:00:00Z');
    expect((await firstDraft(api, customer)).subtotal).toBe('74.13');
  });

  it('prorates what it converts', async () => {
    const customer = await customCustomer({ subscription: { billing_cycle: 'calendar' } });
    const [opening] = await invoicesOf(api, customer.customerId);
    // 17 of the 31 days of January: 32.903… usd.
    expect(amountsOf(opening)).toEqual([['32.9', '658']]);
    expect(opening.price_unit_totals).toMatchObject([{ conversion_rate: '0.05', amount: '658' }]);
  });

  it('stays a draft while its unit has no rate', async () => {
    const customer = await customCustomer();
    const draft = await firstDraft(api, customer);
    const rename = (from: string, to: string) =>
      inTransaction(base.database, base.scope, (tx) =>
        tx.rows('update price_unit set id = $2 where id = $1', [from, to]),
      );
    await rename(customer.unit.id, 'price_unit_away');
    const refused = await api<Wire>('POST', `/invoices/${draft.id}/finalize`);
    expect(refused).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(refused.body.message).toContain('conversion rate');
    expect(await invoiceOf(draft.id)).toEqual(draft);
    await rename('price_unit_away', customer.unit.id);
    expect(await api('POST', `/invoices/${draft.id}/finalize`)).toMatchObject({ status: 200 });
  });
});

const unitIs = (id: string) => ({ field: 'price_unit_id', operator: 'eq', data_type: 'string', value: { string: id } });

async function lastOf(customer: CustomCustomer): Promise<Wire> {
  return (await invoicesOf(api, customer.customerId)).at(-1);
}
