import { describe, expect, it } from 'vitest';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { clockedCustomer, created, testPlatform } from '../../support/billing.ts';
import type { Wire } from './invoice.fixture.ts';

const { api } = await testPlatform();

const read = async (id: string) => (await api<Wire>('GET', `/invoices/${id}`)).body;
const statuses = (answers: readonly { status: number }[]) => answers.map(({ status }) => status).sort();

async function oneOff(more: Record<string, unknown> = {}, card?: string): Promise<Wire> {
  const customer = await clockedCustomer(api, { frozenTime: '2026-02-01T00:00:00Z', ...(card ? { card } : {}) });
  const amounts = { subtotal: '100', total: '100', amount_due: '100' };
  return created<Wire>(api, '/invoices', { customer_id: customer.customerId, currency: 'usd', ...amounts, ...more });
}

const add = (id: string) =>
  api<Wire>('POST', `/invoices/${id}/modify/execute`, {
    type: 'line_item',
    line_item_params: { action: 'add', items: [{ display_name: 'More', amount: '5', quantity: '1' }] },
  });

describe('at the same time', () => {
  it('thirty-two finalizations get thirty-two numbers without a gap', async () => {
    const drafts = await Promise.all(Array.from({ length: 32 }, () => oneOff({ invoice_status: 'DRAFT' })));
    const answers = await Promise.all(drafts.map(({ id }) => api('POST', `/invoices/${id}/finalize`)));
    expect(statuses(answers)).toEqual(drafts.map(() => 200));
    const { body } = await api<Wire>('POST', '/invoices/search', {
      invoice_ids: drafts.map(({ id }) => id),
      limit: 50,
    });
    const numbers = body.items.map((invoice: Wire) => Number(invoice.invoice_number.slice(-5)));
    expect(new Set(numbers).size).toBe(32);
    expect(Math.max(...numbers) - Math.min(...numbers)).toBe(31);
  });

  it('two voids void once', async () => {
    const { id } = await oneOff();
    const answers = await Promise.all([1, 2].map(() => api('POST', `/invoices/${id}/void`)));
    expect(statuses(answers)).toEqual([200, 400]);
  });

  it('two finalizations finalize once', async () => {
    const { id } = await oneOff({ invoice_status: 'DRAFT' });
    const answers = await Promise.all([1, 2].map(() => api('POST', `/invoices/${id}/finalize`)));
    expect(statuses(answers)).toEqual([200, 400]);
  });

  it('a void and a payment leave it voided with the money returned, or paid and then refused', async () => {
    const { id } = await oneOff({}, sandboxCardNumber('declines'));
    const customerId = (await read(id)).customer_id;
    await api('POST', `/customers/${customerId}/payment-methods`, {
      gateway: 'sandbox',
      card_number: sandboxCardNumber('succeeds'),
      set_default: true,
    });
    await Promise.all([api('POST', `/invoices/${id}/payment/attempt`), api('POST', `/invoices/${id}/void`)]);
    const { invoice_status, payment_status, amount_paid, refunded_amount } = await read(id);
    const outcome = `${invoice_status} ${payment_status} paid ${amount_paid} refunded ${refunded_amount}`;
    expect([
      'VOIDED REFUNDED paid 100 refunded 100',
      'VOIDED PENDING paid 0 refunded 0',
      'FINALIZED SUCCEEDED paid 100 refunded 0',
    ]).toContain(outcome);
  });

  it.each<[string, (id: string) => Promise<unknown>[], string[]]>([
    [
      'a void and a finalization of a draft leave it voided',
      (id) => [api('POST', `/invoices/${id}/void`), api('POST', `/invoices/${id}/finalize`)],
      ['VOIDED PENDING paid 0 refunded 0'],
    ],
    [
      'a payment by hand, which a draft refuses, and a void leave it voided',
      (id) => [
        api('PUT', `/invoices/${id}/payment`, { payment_status: 'SUCCEEDED' }),
        api('POST', `/invoices/${id}/void`),
      ],
      ['VOIDED PENDING paid 0 refunded 0'],
    ],
  ])('%s', async (_rule, ask, outcomes) => {
    const { id } = await oneOff({ invoice_status: 'DRAFT' });
    await Promise.all(ask(id));
    const { invoice_status, payment_status, amount_paid, refunded_amount } = await read(id);
    const outcome = `${invoice_status} ${payment_status} paid ${amount_paid} refunded ${refunded_amount}`;
    expect(outcomes).toContain(outcome);
  });

  it('an edit and a finalization leave one invoice with the line, final or replaced', async () => {
    const { id } = await oneOff({ invoice_status: 'DRAFT' });
    const [edited, final] = await Promise.all([add(id), api('POST', `/invoices/${id}/finalize`)]);
    expect({ edited: edited.status, final: final.status }).toEqual({ edited: 200, final: 200 });
    const invoice = await read(id);
    const live = invoice.recalculated_invoice_id ? await read(invoice.recalculated_invoice_id) : invoice;
    expect(live).toMatchObject({ total: '105', invoice_status: invoice === live ? 'FINALIZED' : 'DRAFT' });
    expect(invoice.invoice_status).toBe(invoice === live ? 'FINALIZED' : 'VOIDED');
  });

  it('two edits are both on the draft', async () => {
    const { id } = await oneOff({ invoice_status: 'DRAFT' });
    const answers = await Promise.all([add(id), add(id)]);
    expect(statuses(answers)).toEqual([200, 200]);
    expect(await read(id)).toMatchObject({ total: '110' });
  });

  it('two creations under one key make one invoice', async () => {
    const { customer_id } = await oneOff();
    const body = { customer_id, currency: 'usd', subtotal: '3', total: '3', amount_due: '3', idempotency_key: 'race' };
    const answers = await Promise.all([1, 2, 3].map(() => api('POST', '/invoices', body)));
    expect(statuses(answers)).toEqual([201, 409, 409]);
  });
});
