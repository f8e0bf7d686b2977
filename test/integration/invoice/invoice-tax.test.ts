import { describe, expect, it } from 'vitest';
import type { Api } from '../../support/app.ts';
import { advanceTo, clockedCustomer, created, monthlyPlan, subscribe, testPlatform } from '../../support/billing.ts';
import { countCalls, firstDraft, invoicesOf, type Wire } from './invoice.fixture.ts';

const platform = await testPlatform();
const { api } = platform;

let codes = 0;
async function rate(api: Api, percentage: string, fields: Record<string, unknown> = {}): Promise<Wire> {
  codes += 1;
  return created<Wire>(api, '/taxes/rates', {
    name: `Tax ${codes}`,
    code: `tax_${codes}`,
    percentage_value: percentage,
    ...fields,
  });
}

/** A customer at 2026-01-15 with a monthly subscription of 30 in advance and 0.10 a call, taxed as the options say. */
async function taxedCustomer(options: {
  customer?: Record<string, unknown>;
  subscription?: Record<string, unknown>;
  links?: Record<string, unknown>[];
}) {
  const { planId, eventName } = await monthlyPlan(api);
  const clocked = await clockedCustomer(api, { frozenTime: '2026-01-15T00:00:00Z' });
  await api('PUT', `/customers/${clocked.customerId}`, options.customer ?? {});
  for (const link of options.links ?? []) {
    await created(api, '/taxes/associations', { ...link, entity_type: 'customer', entity_id: clocked.customerId });
  }
  const { id } = await subscribe(api, {
    customer_id: clocked.customerId,
    plan_id: planId,
    ...options.subscription,
  });
  return { ...clocked, subscriptionId: id, eventName };
}

async function opening(customerId: string): Promise<Wire> {
  return (await invoicesOf(api, customerId))[0];
}

async function finalized(id: string): Promise<Wire> {
  expect(await api('POST', `/invoices/${id}/finalize`)).toMatchObject({ status: 200 });
  return (await api<Wire>('GET', `/invoices/${id}`)).body;
}

const amounts = (invoice: Wire) => invoice.taxes.map((tax: Wire) => [tax.taxable_amount, tax.tax_amount]);

describe('an invoice of a taxed subscription', () => {
  it('has a row for each rate by priority, and only exclusive tax is added to the total', async () => {
    const [vat, local] = [await rate(api, '20'), await rate(api, '3')];
    const customer = await taxedCustomer({
      links: [
        { tax_rate_code: local.code, priority: 20 },
        { tax_rate_code: vat.code, priority: 10, tax_behavior: 'inclusive' },
      ],
    });
    const invoice = await opening(customer.customerId);
    // 30 contains 20 %: 5; the rest of 25 is what both are computed on.
    expect(amounts(invoice)).toEqual([
      ['25', '5'],
      ['25', '0.75'],
    ]);
    expect(invoice).toMatchObject({
      invoice_status: 'FINALIZED',
      subtotal: '30',
      total_tax: '5.75',
      total: '30.75',
      amount_due: '30.75',
      tax_summary: {
        total_inclusive_tax: '5',
        total_exclusive_tax: '0.75',
        total_tax: '5.75',
        no_tax_reason: null,
      },
    });
    expect(invoice.taxes[0]).toMatchObject({
      id: expect.stringMatching(/^taxapp_/),
      entity_type: 'invoice',
      entity_id: invoice.id,
      tax_rate_id: vat.id,
      tax_association_id: expect.stringMatching(/^ta_/),
      tax_behavior: 'inclusive',
      currency: 'usd',
      applied_at: '2026-01-15T00:00:00.000Z',
      idempotency_key: `${invoice.id}/${vat.id}`,
      tax_rate: { code: vat.code, name: vat.name, percentage_value: '20', fixed_value: null, scope: 'INTERNAL' },
      status: 'published',
    });
    const { body } = await api<Wire>('GET', `/invoices/${invoice.id}/explain`);
    const step = body.totals.find((total: Wire) => total.step === 'total_tax');
    expect(step).toMatchObject({ amount: '5.75', sentence: expect.stringContaining(`${vat.name}, 20 % of 25.00 usd`) });
  });

  it('computes taxes again at finalization, on usage that came late, and never doubles a row', async () => {
    const vat = await rate(api, '10');
    const customer = await taxedCustomer({ links: [{ tax_rate_code: vat.code }] });
    const draft = await firstDraft(api, customer);
    expect(draft).toMatchObject({ total_tax: '3', total: '33' });
    await countCalls(api, customer, 12, '2026-02-10T00:00:00Z');
    const invoice = await finalized(draft.id);
    expect(invoice).toMatchObject({ subtotal: '31.2', total_tax: '3.12', total: '34.32' });
    expect(amounts(invoice)).toEqual([['31.2', '3.12']]);
    expect(invoice.taxes[0].id).toBe(draft.taxes[0].id);
  });

  it('drops a rate that is made INACTIVE and one that is ended between draft and finalization', async () => {
    const [kept, withdrawn, ended] = [await rate(api, '1'), await rate(api, '2'), await rate(api, '4')];
    const customer = await taxedCustomer({
      links: [kept, withdrawn, ended].map(({ code }) => ({ tax_rate_code: code })),
    });
    const draft = await firstDraft(api, customer);
    expect(draft).toMatchObject({ total_tax: '2.1' });
    await api('PUT', `/taxes/rates/${withdrawn.id}`, { tax_rate_status: 'INACTIVE' });
    const association = draft.taxes.find((tax: Wire) => tax.tax_rate_id === ended.id).tax_association_id;
    expect(await api('DELETE', `/taxes/associations/${association}`)).toMatchObject({ status: 200 });
    const invoice = await finalized(draft.id);
    expect(invoice).toMatchObject({ total_tax: '0.3', total: '30.3' });
    expect(invoice.taxes.map((tax: Wire) => tax.tax_rate_id)).toEqual([kept.id]);
  });

  it('is not changed any more once it is final, and keeps the rate as it was', async () => {
    const vat = await rate(api, '19');
    const customer = await taxedCustomer({ links: [{ tax_rate_code: vat.code }] });
    const invoice = await opening(customer.customerId);
    await api('PUT', `/taxes/rates/${vat.id}`, { tax_rate_status: 'INACTIVE' });
    await api('PUT', `/customers/${customer.customerId}`, { tax_treatment: 'exempt' });
    const { body } = await api<Wire>('GET', `/invoices/${invoice.id}`);
    expect(body).toEqual(invoice);
    expect(body.taxes[0].tax_rate.tax_rate_status).toBe('ACTIVE');
    const refused = await api('PUT', `/taxes/rates/${vat.id}`, { name: 'Other' });
    expect(refused).toMatchObject({ status: 400, body: { code: 'validation_error' } });
  });

  it('has no tax when the customer became exempt before it is final, and says so', async () => {
    const vat = await rate(api, '19');
    const customer = await taxedCustomer({ links: [{ tax_rate_code: vat.code }] });
    const draft = await firstDraft(api, customer);
    expect(draft.taxes).toHaveLength(1);
    await api('PUT', `/customers/${customer.customerId}`, { tax_treatment: 'exempt' });
    const invoice = await finalized(draft.id);
    expect(invoice).toMatchObject({
      taxes: [],
      total_tax: '0',
      total: '30',
      tax_summary: { total_inclusive_tax: '0', total_exclusive_tax: '0', no_tax_reason: 'customer_exempt' },
    });
  });

  it('says why there is no tax: no rate, or nothing to tax', async () => {
    const vat = await rate(api, '19');
    const untaxed = await taxedCustomer({});
    expect((await opening(untaxed.customerId)).tax_summary.no_tax_reason).toBe('no_tax_rates');
    const trial = await taxedCustomer({
      links: [{ tax_rate_code: vat.code }],
      subscription: { trial_period_days: 7 },
    });
    expect((await opening(trial.customerId)).tax_summary.no_tax_reason).toBe('zero_taxable_amount');
  });

  it('shows in a preview what the invoice will have, as numbers', async () => {
    const vat = await rate(api, '8.25');
    const customer = await taxedCustomer({ links: [{ tax_rate_code: vat.code }] });
    const { body } = await api<Wire>('POST', '/invoices/preview', { subscription_id: customer.subscriptionId });
    expect(body).toMatchObject({
      subtotal: 30,
      total_tax: 2.48,
      total: 32.48,
      taxes: [{ id: null, tax_rate_id: vat.id, taxable_amount: 30, tax_amount: 2.48 }],
      tax_summary: { total_exclusive_tax: 2.48, total_tax: 2.48, no_tax_reason: null },
    });
    const draft = await firstDraft(api, customer);
    expect(draft).toMatchObject({ total_tax: '2.48', total: '32.48' });
  });

  it('follows the windows of its links at the end of each period', async () => {
    const vat = await rate(api, '10');
    const customer = await taxedCustomer({
      links: [{ tax_rate_code: vat.code, start_date: '2026-02-20T00:00:00Z', end_date: '2026-04-01T00:00:00Z' }],
    });
    await advanceTo(api, customer.clockId, '2026-05-16T00:00:00Z');
    const invoices = await invoicesOf(api, customer.customerId);
    // The opening and the first period end before the window, the second inside, the others after it.
    expect(invoices.map((invoice: Wire) => invoice.total_tax)).toEqual(['0', '0', '3', '0', '0']);
  });
});

describe('the tax links of a subscription', () => {
  const linksOf = async (id: string) =>
    (await api<Wire>('GET', `/taxes/associations?entity_type=subscription&entity_id=${id}`)).body.items;

  it('are copies of the invoiced customer, from the start of the subscription on', async () => {
    const vat = await rate(api, '19');
    const customer = await taxedCustomer({
      links: [{ tax_rate_code: vat.code, priority: 4, metadata: { why: 'home' } }],
      subscription: { start_date: '2025-12-20T00:00:00Z' },
    });
    expect(await linksOf(customer.subscriptionId)).toMatchObject([
      { tax_rate_id: vat.id, priority: 4, start_date: '2025-12-20T00:00:00.000Z', metadata: { why: 'home' } },
    ]);
  });

  it('are only the rates it names when it names some; their tax is exclusive in usd unless told', async () => {
    const [ofCustomer, first, second] = [await rate(api, '19'), await rate(api, '5'), await rate(api, '7')];
    const customer = await taxedCustomer({
      links: [{ tax_rate_code: ofCustomer.code }],
      subscription: {
        tax_rate_overrides: [
          { tax_rate_code: first.code, currency: 'usd' },
          { tax_rate_code: second.code, currency: 'usd', tax_behavior: 'inclusive', priority: 1 },
        ],
      },
    });
    const invoice = await opening(customer.customerId);
    expect(invoice.taxes.map((tax: Wire) => [tax.tax_rate_id, tax.tax_behavior])).toEqual([
      [second.id, 'inclusive'],
      [first.id, 'exclusive'],
    ]);
  });

  it('are refused whole when one is unknown, named twice or of another currency', async () => {
    const vat = await rate(api, '19');
    const customer = await taxedCustomer({});
    const { planId } = await monthlyPlan(api);
    const body = { customer_id: customer.customerId, plan_id: planId, currency: 'usd', billing_period: 'MONTHLY' };
    const ask = (overrides: object[]) => api('POST', '/subscriptions', { ...body, tax_rate_overrides: overrides });
    const one = { tax_rate_code: vat.code, currency: 'usd' };
    expect(await ask([{ ...one, tax_rate_code: 'nowhere' }])).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
    expect(await ask([one, one])).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(await ask([{ ...one, currency: 'eur' }])).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(await ask([{ ...one, priority: -1 }])).toMatchObject({ status: 400, body: { code: 'validation_error' } });
  });
});
