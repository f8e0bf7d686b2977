import { describe, expect, it } from 'vitest';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { clockedCustomer, created, monthlyPlan, subscribe, testPlatform } from '../../support/billing.ts';
import { checkout, payAtSandbox, readSession } from '../payment/checkout/checkout.fixture.ts';
import { type BilledCustomer, billedCustomer, countCalls, firstDraft, type Wire } from './invoice.fixture.ts';

const platform = await testPlatform();
const { api } = platform;

const read = async (path: string) => (await api<Wire>('GET', path)).body;
const setting = async (tax: string | null) =>
  expect((await api('PUT', '/settings/wallet_topup_config', { value: { tax } })).status).toBe(200);
const ledgerOf = async (walletId: string): Promise<Wire[]> =>
  (await read(`/wallets/${walletId}/transactions?sort=created_at&order=asc`)).items;
const balanceOf = async (walletId: string) => (await read(`/wallets/${walletId}`)).credit_balance;
const taxesOf = (invoice: Wire) => invoice.taxes.map((tax: Wire) => [tax.taxable_amount, tax.tax_amount]);

let codes = 0;

/** Links a rate to a customer, and to its subscription where it has one. */
async function taxed(customer: { customerId: string; subscriptionId?: string }, percentage: string, fields: Wire = {}) {
  codes += 1;
  const rate = await created<Wire>(api, '/taxes/rates', {
    name: `VAT ${codes}`,
    code: `vat_${codes}`,
    percentage_value: percentage,
  });
  const link = { tax_rate_code: rate.code, ...fields };
  const { customerId, subscriptionId } = customer;
  await created(api, '/taxes/associations', { ...link, entity_type: 'customer', entity_id: customerId });
  if (subscriptionId) {
    const start_date = '2026-01-15T00:00:00Z';
    await created(api, '/taxes/associations', {
      ...{ ...link, start_date },
      ...{ entity_type: 'subscription', entity_id: subscriptionId },
    });
  }
  return rate;
}

/** A customer of 30 in advance and 0.10 a call, taxed at 20 %, with an empty wallet. */
async function taxedCustomer(behavior: 'exclusive' | 'inclusive' = 'exclusive', wallet: Wire = {}) {
  const customer = await billedCustomer(platform);
  await taxed(customer, '20', { tax_behavior: behavior });
  const { id: walletId } = await created<Wire>(api, '/wallets', {
    customer_id: customer.customerId,
    currency: 'usd',
    ...wallet,
  });
  return { ...customer, walletId };
}

const buy = (walletId: string, credits: string, fields: Wire = {}) =>
  created<Wire>(api, `/wallets/${walletId}/top-up`, {
    transaction_reason: 'PURCHASED_CREDIT_INVOICED',
    credits_to_add: credits,
    ...fields,
  });
const payWhole = async (invoiceId: string) =>
  expect((await api('PUT', `/invoices/${invoiceId}/payment`, { payment_status: 'SUCCEEDED' })).status).toBe(200);

async function bought(walletId: string, credits: string, fields: Wire = {}): Promise<Wire> {
  const { invoice_id } = await buy(walletId, credits, fields);
  await payWhole(invoice_id);
  return read(`/invoices/${invoice_id}`);
}

/** The invoice of the first period, final: 30 in advance for the next and `calls` at 0.10. */
async function finalizedPeriod(customer: BilledCustomer, calls: number): Promise<Wire> {
  await countCalls(api, customer, calls, '2026-02-10T00:00:00Z');
  const draft = await firstDraft(api, customer);
  const { status, body } = await api<Wire>('POST', `/invoices/${draft.id}/finalize`);
  expect(status, JSON.stringify(body)).toBe(200);
  return read(`/invoices/${draft.id}`);
}

describe('finding 6: tax twice, or none', () => {
  it('taxes bought credits at their use by default, as it always did', async () => {
    const customer = await taxedCustomer();
    expect((await read('/settings/wallet_topup_config')).value.tax).toBe('at_use');
    expect(await bought(customer.walletId, '40')).toMatchObject({ total: '40', total_tax: '0' });
    expect((await ledgerOf(customer.walletId))[0].is_taxed).toBe(false);
    const invoice = await finalizedPeriod(customer, 400);
    expect(invoice).toMatchObject({ total_prepaid_credits_applied: '40', taxed_credits_applied: '0', total: '44' });
    expect(taxesOf(invoice)).toEqual([['70', '14']]);
  });

  it('taxes them as they are bought where the setting says so, and what they pay not again', async () => {
    await setting('at_purchase');
    const customer = await taxedCustomer();
    const purchase = await bought(customer.walletId, '40');
    expect(purchase).toMatchObject({ subtotal: '40', total_tax: '8', total: '48', amount_paid: '48' });
    expect(taxesOf(purchase)).toEqual([['40', '8']]);
    expect(await balanceOf(customer.walletId)).toBe('40');
    expect((await ledgerOf(customer.walletId))[0]).toMatchObject({
      is_taxed: true,
      amount: '40',
      credits_available: '40',
    });
    const invoice = await finalizedPeriod(customer, 400);
    // Fee and usage of 70; 40 of it were taxed when they were bought.
    expect(invoice).toMatchObject({
      subtotal: '70',
      total_prepaid_credits_applied: '40',
      taxed_credits_applied: '40',
      total_tax: '6',
      total: '36',
    });
    expect(taxesOf(invoice)).toEqual([['30', '6']]);
    const explained = await read(`/invoices/${invoice.id}/explain`);
    expect(explained.totals.find(({ step }: Wire) => step === 'taxed_credits_applied')).toMatchObject({ amount: '40' });
    expect(explained.credits[0].lots).toMatchObject([{ credits: '40', is_taxed: true }]);
    expect(await read(`/invoices/${invoice.id}/verify`)).toMatchObject({ mismatches: [] });
    await setting(null);
  });

  it('uses taxed and other lots in the order of the ledger, and rounds so that no cent goes untaxed', async () => {
    await setting('at_purchase');
    const customer = await taxedCustomer();
    // The free lot goes first; the bonus costs nothing and bears no tax.
    const free = { transaction_reason: 'FREE_CREDIT_GRANT', credits_to_add: '5.005', priority: 0 };
    await created(api, `/wallets/${customer.walletId}/top-up`, free);
    await bought(customer.walletId, '10', { bonus_credits_to_add: '2', priority: 1 });
    const lots = await ledgerOf(customer.walletId);
    expect(lots.map(({ is_taxed }) => is_taxed)).toEqual([false, true, false]);
    const invoice = await finalizedPeriod(customer, 160);
    // 16 of usage: 5.005 free, 10 taxed, 0.995 of the bonus. 6 are taxed, and the fee.
    expect(invoice).toMatchObject({ total_prepaid_credits_applied: '16', taxed_credits_applied: '10', total: '37.2' });
    expect(taxesOf(invoice)).toEqual([['36', '7.2']]);
    await setting(null);
  });

  it('takes tax that prices contain out of the purchase, and of what is left at the use', async () => {
    await setting('at_purchase');
    const customer = await taxedCustomer('inclusive');
    const purchase = await bought(customer.walletId, '24');
    expect(purchase).toMatchObject({ total: '24', total_tax: '4', amount_paid: '24' });
    const invoice = await finalizedPeriod(customer, 300);
    expect(invoice).toMatchObject({ total_prepaid_credits_applied: '24', taxed_credits_applied: '24', total: '36' });
    expect(taxesOf(invoice)).toEqual([['30', '6']]);
    await setting(null);
  });

  it('comes back as what it was when the invoice is voided, at any rate', async () => {
    await setting('at_purchase');
    const customer = await taxedCustomer('exclusive', { conversion_rate: '0.5' });
    await bought(customer.walletId, '200');
    const invoice = await finalizedPeriod(customer, 100);
    expect(invoice).toMatchObject({ taxed_credits_applied: '10', total_tax: '6' });
    expect((await api('POST', `/invoices/${invoice.id}/void`)).status).toBe(200);
    // What comes back is a lot of its own, and is not taxed again either.
    expect((await ledgerOf(customer.walletId)).at(-1)).toMatchObject({
      transaction_reason: 'INVOICE_VOID_REFUND',
      amount: '10',
      is_taxed: true,
    });
    expect(await balanceOf(customer.walletId)).toBe('200');
    await setting(null);
  });

  it('gives tax back with the credits: a refund takes them pro rata, a void takes all', async () => {
    await setting('at_purchase');
    const customer = await taxedCustomer();
    await created(api, `/customers/${customer.customerId}/payment-methods`, {
      ...{ card_number: sandboxCardNumber('succeeds'), set_default: true },
    });
    const { invoice_id } = await buy(customer.walletId, '100', { bonus_credits_to_add: '10' });
    await expect.poll(() => balanceOf(customer.walletId), { timeout: 20_000 }).toBe('110');
    const first = await read(`/invoices/${invoice_id}`);
    expect(first).toMatchObject({ total: '120', amount_paid: '120' });
    const line_items = [{ invoice_line_item_id: first.line_items[0].id, amount: '60' }];
    const note = { invoice_id: first.id, reason: 'UNSATISFACTORY', line_items };
    await created(api, '/creditnotes', note);
    // 60 of the 120 that were paid: half of the credits and of the bonus.
    expect(await balanceOf(customer.walletId)).toBe('55');
    const second = await read(`/invoices/${(await buy(customer.walletId, '50')).invoice_id}`);
    await expect.poll(() => balanceOf(customer.walletId), { timeout: 20_000 }).toBe('105');
    expect((await api('POST', `/invoices/${second.id}/void`, {})).status).toBe(200);
    expect(await read(`/invoices/${second.id}`)).toMatchObject({ invoice_status: 'VOIDED', refunded_amount: '60' });
    expect(await balanceOf(customer.walletId)).toBe('55');
    await setting(null);
  });

  it('gives back, with a wallet that ends, the unused share of what was paid with its tax', async () => {
    await setting('at_purchase');
    await api('PUT', '/settings/wallet_termination_policy', { value: { policy: 'refund_purchased' } });
    const customer = await taxedCustomer();
    await created(api, `/customers/${customer.customerId}/payment-methods`, {
      ...{ card_number: sandboxCardNumber('succeeds'), set_default: true },
    });
    const { invoice_id } = await buy(customer.walletId, '100');
    await expect.poll(() => balanceOf(customer.walletId), { timeout: 20_000 }).toBe('100');
    await created(api, `/wallets/${customer.walletId}/debit`, {
      ...{ credits: '25', transaction_reason: 'MANUAL_BALANCE_DEBIT', idempotency_key: `use-${customer.walletId}` },
    });
    await created(api, `/wallets/${customer.walletId}/terminate`, {});
    expect(await read(`/invoices/${invoice_id}`)).toMatchObject({ amount_paid: '120', refunded_amount: '90' });
    await api('DELETE', '/settings/wallet_termination_policy');
    await setting(null);
  });

  it('has a payment page collect the tax, and marks the credits that it buys', async () => {
    await setting('at_purchase');
    const customer = await taxedCustomer();
    const { checkout_session: session } = await buy(customer.walletId, '50', { checkout });
    await payAtSandbox(platform.gateway, session);
    expect(await readSession(api, session.id)).toMatchObject({ checkout_status: 'completed', amount: '60' });
    expect(await ledgerOf(customer.walletId)).toMatchObject([
      { is_taxed: true, amount: '50', credits_available: '50' },
    ]);
    await setting(null);
  });

  it('leaves to their use what nothing taxed: direct purchases, exempt customers, postpaid wallets', async () => {
    await setting('at_purchase');
    const customer = await taxedCustomer();
    const direct = { transaction_reason: 'PURCHASED_CREDIT_DIRECT', credits_to_add: '5' };
    await created(api, `/wallets/${customer.walletId}/top-up`, direct);
    expect((await ledgerOf(customer.walletId))[0].is_taxed).toBe(false);
    const { id: postpaid } = await created<Wire>(api, '/wallets', {
      ...{ customer_id: customer.customerId, currency: 'usd', wallet_type: 'POST_PAID' },
    });
    expect(await bought(postpaid, '10')).toMatchObject({ total: '10', total_tax: '0' });
    await api('PUT', `/customers/${customer.customerId}`, { tax_treatment: 'exempt' });
    expect(await bought(customer.walletId, '10')).toMatchObject({
      total: '10',
      tax_summary: { no_tax_reason: 'customer_exempt' },
    });
    expect((await ledgerOf(customer.walletId)).map(({ is_taxed }) => is_taxed)).toEqual([false, false]);
    await setting(null);
  });

  it('has an invoice that they pay whole say why it has no tax', async () => {
    await setting('at_purchase');
    const { customerId, clockId, externalId } = await clockedCustomer(api, { frozenTime: '2026-01-15T00:00:00Z' });
    const { planId, eventName } = await monthlyPlan(api, { fee: '0' });
    await taxed({ customerId }, '20');
    const { id: subscriptionId } = await subscribe(api, { customer_id: customerId, plan_id: planId });
    const { id: walletId } = await created<Wire>(api, '/wallets', { customer_id: customerId, currency: 'usd' });
    await bought(walletId, '10');
    const invoice = await finalizedPeriod({ customerId, clockId, externalId, eventName, subscriptionId }, 70);
    expect(invoice).toMatchObject({
      ...{ taxed_credits_applied: '7', total_tax: '0', total: '0', payment_status: 'SUCCEEDED' },
      tax_summary: { no_tax_reason: 'zero_taxable_amount' },
    });
    const explained = await read(`/invoices/${invoice.id}/explain`);
    expect(explained.totals.find(({ step }: Wire) => step === 'total_tax').sentence).toContain(
      'nothing remains after coupons and credits that were taxed when they were bought',
    );
    await setting(null);
  });

  it('does not turn taxed credits into a postpaid wallet, which would pay tax with them', async () => {
    await setting('at_purchase');
    const { walletId } = await taxedCustomer();
    await bought(walletId, '10');
    const refused = await api<Wire>('POST', `/wallets/${walletId}/modify`, {
      modification_type: 'prepaid_to_postpaid',
    });
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
    expect(refused.body.message).toContain('taxed when they were bought');
    expect(await read(`/wallets/${walletId}`)).toMatchObject({ wallet_status: 'active', credit_balance: '10' });
    await setting(null);
  });

  it('charges an automatic top-up with its tax, which its limits count', async () => {
    await setting('at_purchase');
    const limits = { value: { monthly_amount: { usd: '100' } } };
    expect((await api('PUT', '/settings/auto_topup_limits', limits)).status).toBe(200);
    const customer = await taxedCustomer('exclusive', { initial_credits_to_load: '10' });
    await created(api, `/customers/${customer.customerId}/payment-methods`, {
      ...{ card_number: sandboxCardNumber('succeeds'), set_default: true },
    });
    const auto_topup = { enabled: true, threshold: 20, amount: 25, invoicing: true, cover_shortfall: true };
    await api('PUT', `/wallets/${customer.walletId}`, { auto_topup: { ...auto_topup, threshold: 200 } });
    // 4 times 25 cost 120 with their tax, which is more than the month's 100: three are bought.
    await expect.poll(() => balanceOf(customer.walletId), { timeout: 20_000 }).toBe('85');
    const { items } = await read(`/wallets/${customer.walletId}/auto-topup/attempts`);
    expect(items).toMatchObject([{ credits: '75', amount: '90', outcome: 'succeeded' }]);
    const standing = (await read(`/wallets/${customer.walletId}`)).auto_topup_standing;
    expect(standing.month_amount).toBe('90');
    expect((await ledgerOf(customer.walletId)).map(({ is_taxed }) => is_taxed)).toEqual([false, true]);
    await api('DELETE', '/settings/auto_topup_limits');
    await setting(null);
  });

  it('refuses another word, and keeps what it was', async () => {
    const refused = await api<Wire>('PUT', '/settings/wallet_topup_config', { value: { tax: 'never' } });
    expect(refused).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(refused.body.message).toContain('at_use or at_purchase');
    expect((await read('/settings/wallet_topup_config')).value.tax).toBe('at_use');
  });
});
