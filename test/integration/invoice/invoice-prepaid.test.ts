import { describe, expect, it } from 'vitest';
import { decimal } from '../../../billing/money/money.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { issueInvoices } from '../../../services/invoice/issue/invoice-issue.ts';
import { createWallet, type NewWallet } from '../../../services/ledger/wallet-create.ts';
import { advanceTo, eventsOf, testPlatform } from '../../support/billing.ts';
import {
  type BilledCustomer,
  billedCustomer,
  countCalls,
  firstDraft,
  invoicesOf,
  type Wire,
} from './invoice.fixture.ts';

const platform = await testPlatform();
const { api, base } = platform;

async function wallet(customer: BilledCustomer, credits: string, fields: Partial<NewWallet> = {}): Promise<string> {
  const { scope, database } = base;
  const firstCredit = {
    reason: 'FREE_CREDIT_GRANT',
    quantity: { credits: decimal(credits) },
    referenceType: 'EXTERNAL' as const,
    referenceId: customer.customerId,
    idempotencyKey: `first-${customer.customerId}`,
    ...fields.firstCredit,
  };
  return inSqlTransaction(database, scope, (tx) =>
    createWallet(tx, scope, { customerId: customer.customerId, currency: 'usd', ...fields, firstCredit }),
  );
}

const rows = (text: string, values: unknown[]) =>
  inSqlTransaction(base.database, base.scope, async (tx) => (await tx.rows(text, values)) as Wire[]);
const balanceOf = async (id: string) =>
  (await rows('select trim_scale(balance)::text as balance from wallet where id = $1', [id]))[0].balance;
const debitsOf = (id: string) =>
  rows(
    `select trim_scale(amount)::text as amount, trim_scale(credit_amount)::text as credits, reference_id, transaction_reason, metadata
     from wallet_transaction where wallet_id = $1 and type = 'debit' order by position`,
    [id],
  );

/** The invoice of the first period, finalized: 30 in advance for the next and `calls` at 0.10. */
async function finalizedPeriod(customer: BilledCustomer, calls: number): Promise<Wire> {
  await countCalls(api, customer, calls, '2026-02-10T00:00:00Z');
  const draft = await firstDraft(api, customer);
  expect(await api('POST', `/invoices/${draft.id}/finalize`)).toMatchObject({ status: 200 });
  return (await api<Wire>('GET', `/invoices/${draft.id}`)).body;
}

describe('prepaid credits at finalization (wallets-and-payments §2.12)', () => {
  it('pay usage lines and nothing else, and the debit names invoice and lots', async () => {
    const customer = await billedCustomer(platform);
    const walletId = await wallet(customer, '100');
    const invoice = await finalizedPeriod(customer, 55);
    expect(invoice).toMatchObject({ subtotal: '35.5', total_prepaid_credits_applied: '5.5', total: '30' });
    const applied = invoice.line_items.map((line: Wire) => [line.display_name, line.prepaid_credits_applied]);
    expect(Object.fromEntries(applied)).toEqual({ Base: '0', Calls: '5.5' });
    expect(await debitsOf(walletId)).toMatchObject([
      {
        amount: '5.5',
        credits: '5.5',
        reference_id: invoice.id,
        transaction_reason: 'CREDIT_ADJUSTMENT',
        metadata: { consumed_credit_tx_ids: expect.stringMatching(/^wtxn_/) },
      },
    ]);
    expect(await balanceOf(walletId)).toBe('94.5');
  });

  it('leave what is finer than the currency in the wallet, at the rate of the wallet', async () => {
    const customer = await billedCustomer(platform);
    const walletId = await wallet(customer, '7.333333333', { conversionRate: '0.5' });
    const invoice = await finalizedPeriod(customer, 55);
    expect(invoice.total_prepaid_credits_applied).toBe('3.66');
    expect(await debitsOf(walletId)).toMatchObject([{ amount: '3.66', credits: '7.32' }]);
  });

  it('take nothing of a lot that had expired when the period ended', async () => {
    const customer = await billedCustomer(platform);
    const expired = { expiryDate: '2026-02-14T00:00:00.000Z' } as NewWallet['firstCredit'];
    const walletId = await wallet(customer, '100', { firstCredit: expired });
    expect((await finalizedPeriod(customer, 55)).total_prepaid_credits_applied).toBe('0');
    // The invoice takes none of it; the lot leaves the wallet as expired.
    await expect.poll(() => balanceOf(walletId), { timeout: 20_000 }).toBe('0');
    expect(await debitsOf(walletId)).toMatchObject([{ transaction_reason: 'CREDIT_EXPIRED', credits: '100' }]);
  });

  it('re-finalize: are taken once, though the step dies before its commit and is repeated after it', async () => {
    const customer = await billedCustomer(platform);
    const walletId = await wallet(customer, '100');
    await countCalls(api, customer, 55, '2026-02-10T00:00:00Z');
    const { id: invoiceId } = await firstDraft(api, customer);
    const issue = (end = () => {}) =>
      inSqlTransaction(base.database, base.scope, async (tx) => {
        await issueInvoices(tx, base.scope, [{ invoiceId, at: '2026-02-15T01:00:00.000Z' }], null);
        end();
      });
    const death = new Error('the process dies');
    const dying = issue(() => {
      throw death;
    });
    await expect(dying).rejects.toBe(death);
    expect(await debitsOf(walletId)).toEqual([]);
    expect((await api<Wire>('GET', `/invoices/${invoiceId}`)).body.invoice_status).toBe('DRAFT');
    expect(await api('POST', `/invoices/${invoiceId}/finalize`)).toMatchObject({ status: 200 });
    await Promise.all([issue(), issue()]);
    expect(await api('POST', `/invoices/${invoiceId}/finalize`)).toMatchObject({ status: 400 });
    expect(await debitsOf(walletId)).toMatchObject([{ amount: '5.5', reference_id: invoiceId }]);
    expect(await balanceOf(walletId)).toBe('94.5');
  });

  it('come back as a lot of their own when the invoice is voided, beside what was paid', async () => {
    const customer = await billedCustomer(platform);
    const walletId = await wallet(customer, '2');
    const invoice = await finalizedPeriod(customer, 55);
    expect(invoice).toMatchObject({ total_prepaid_credits_applied: '2', total: '33.5' });
    expect(await balanceOf(walletId)).toBe('0');
    expect(await api('POST', `/invoices/${invoice.id}/void`)).toMatchObject({ status: 200 });
    const { body } = await api<Wire>('GET', `/invoices/${invoice.id}`);
    expect(body).toMatchObject({ invoice_status: 'VOIDED', payment_status: 'REFUNDED', refunded_amount: '0' });
    expect(await balanceOf(walletId)).toBe('2');
  });

  it('that pay a whole invoice settle it, also many closes at once', async () => {
    const customer = await billedCustomer(platform);
    const walletId = await wallet(customer, '500');
    await countCalls(api, customer, 20, '2026-02-10T00:00:00Z');
    await countCalls(api, customer, 10, '2026-03-10T00:00:00Z');
    await advanceTo(api, customer.clockId, '2026-03-16T00:00:00Z');
    const invoices = await invoicesOf(api, customer.customerId);
    expect(invoices.map((invoice) => invoice.total_prepaid_credits_applied)).toEqual(['0', '2', '1']);
    expect(await balanceOf(walletId)).toBe('497');
    expect(await eventsOf(api, walletId)).toEqual(['wallet.created']);
  });
});
