import { describe, expect, it } from 'vitest';
import { eventsOf, testPlatform } from '../../support/billing.ts';
import { computedDrafts } from './computed-draft.fixture.ts';
import type { Wire } from './invoice.fixture.ts';

/* Lines, texts and expected amounts that POST /invoices/{id}/compute may give a draft. spec: subscriptions-and-invoicing §1.11.1, §2.15.2 */

const { api } = await testPlatform();
const { draftOf, compute, computed, expectRefused, coupon, redemptions, rate } = computedDrafts(api);

const at = '2026-02-01T00:00:00Z';

describe('line_items', () => {
  it('take the place of the lines of a draft, which is finalized with them', async () => {
    const draft = await draftOf();
    const line_items = [
      { display_name: 'Licence', quantity: '3', amount: '180', commitment_info: { amount: '150' } },
      { display_name: 'Goodwill', quantity: '1', amount: '-30' },
    ];
    const invoice = await computed(draft.id, { line_items, subtotal: '150', total: '150.00', amount_due: 150 });
    expect(invoice).toMatchObject({ invoice_status: 'DRAFT', subtotal: '150', total: '150', amount_remaining: '150' });
    expect(invoice.line_items).toMatchObject([
      { display_name: 'Licence', quantity: '3', amount: '180', commitment_info: { type: 'amount', amount: '150' } },
      { display_name: 'Goodwill', amount: '-30' },
    ]);
    expect(await eventsOf(api, draft.id)).toEqual(['invoice.update', 'invoice.update']);
    // Without a body it is computed from the lines it has now, and may still be edited.
    expect((await compute(draft.id)).body.invoice.total).toBe('150');
    expect((await api('POST', `/invoices/${draft.id}/finalize`)).status).toBe(200);
    const { body: final } = await api<Wire>('GET', `/invoices/${draft.id}`);
    expect(final).toMatchObject({ invoice_status: 'FINALIZED', total: '150', line_items: [{ amount: '180' }, {}] });
    expect((await api<Wire>('GET', `/invoices/${draft.id}/verify`)).body.verified).toBe(true);
  });

  it('take over coupons of lines with their name, and free those of lines that are gone', async () => {
    const [kept, lost] = [await coupon({ max_redemptions: 1 }), await coupon({ max_redemptions: 1 })];
    const draft = await draftOf({
      line_item_coupons: [
        { coupon_id: kept.id, line_item_id: 'setup' },
        { coupon_id: lost.id, line_item_id: 'training' },
      ],
    });
    expect(draft.total_discount).toBe('12');
    const line_items = [{ quantity: '1', amount: '50', metadata: { line_item_id: 'setup' } }];
    const invoice = await computed(draft.id, { line_items });
    expect(invoice).toMatchObject({ subtotal: '50', total_discount: '5', total: '45' });
    expect(invoice.coupon_applications).toMatchObject([
      { coupon_id: kept.id, invoice_line_item_id: invoice.line_items[0].id },
    ]);
    expect([await redemptions(kept), await redemptions(lost)]).toEqual([1, 0]);
  });

  it('keep what was paid, and say when it is too much or all of it', async () => {
    const draft = await draftOf({ amount_paid: '50' });
    const of = (amount: string) => ({ line_items: [{ quantity: '1', amount }] });
    expect(await computed(draft.id, of('50'))).toMatchObject({ payment_status: 'SUCCEEDED', amount_remaining: '0' });
    expect(await computed(draft.id, of('40'))).toMatchObject({ payment_status: 'OVERPAID', overpaid_amount: '10' });
    expect(await computed(draft.id, of('60'))).toMatchObject({
      payment_status: 'PENDING',
      amount_paid: '50',
      amount_remaining: '10',
      overpaid_amount: '0',
      paid_at: null,
    });
    const free = await draftOf({ subtotal: '0', total: '0', amount_due: '0', line_items: [] });
    expect(free.payment_status).toBe('SUCCEEDED');
    expect(await computed(free.id, of('7'))).toMatchObject({ payment_status: 'PENDING', amount_remaining: '7' });
  });

  it('have the credits of an imported invoice, which they have to hold', async () => {
    const draft = await draftOf({ total_prepaid_applied: '60' });
    const of = (amount: string, more: object = {}) => ({ line_items: [{ quantity: '1', amount, ...more }] });
    expect(await expectRefused(draft, of('59'), 400, 'line_items')).toContain('59 of the 60');
    expect(await computed(draft.id, of('80'))).toMatchObject({ total_prepaid_credits_applied: '60', total: '20' });
    const less = await computed(draft.id, of('80', { prepaid_credits_applied: '10' }));
    expect(less).toMatchObject({ total_prepaid_credits_applied: '10', total: '70' });
    const field = 'line_items[0].prepaid_credits_applied';
    expect(await expectRefused(draft, of('80', { prepaid_credits_applied: '81' }), 400, field)).toContain('must be 80');
    const off = await coupon({ percentage_off: '90' });
    await expectRefused(draft, { invoice_coupons: [{ coupon_id: off.id }] }, 400, 'invoice_coupons');
    expect(await redemptions(off)).toBe(0);
  });

  it.each<[string, object, number, string]>([
    ['a subtotal that is not their sum', { subtotal: '11' }, 400, 'subtotal'],
    ['a line of a negative quantity', { line_items: [{ amount: '1', quantity: '-1' }] }, 400, 'line_items[0].quantity'],
    [
      'a price of nobody',
      { line_items: [{ amount: '1', quantity: '1', price_id: 'price_none' }] },
      404,
      'line_items[0].price_id',
    ],
    [
      'a line that ends before it begins',
      { line_items: [{ amount: '1', quantity: '1', period_start: at, period_end: '2026-01-01T00:00:00Z' }] },
      400,
      'line_items[0].period_end',
    ],
    [
      'a discount that no coupon gives',
      { line_items: [{ amount: '10', quantity: '1', line_item_discount: '1' }] },
      400,
      'line_items[0].line_item_discount',
    ],
  ])('are refused with %s', async (_name, more, status, field) => {
    const line_items = [{ amount: '10', quantity: '1' }];
    await expectRefused(await draftOf(), { line_items, ...more }, status, field);
  });
});

describe('description, due_date and expected amounts', () => {
  it('are taken, and the amounts compared with what the draft comes to', async () => {
    const draft = await draftOf();
    const body = { description: 'As agreed in May', due_date: '2026-03-01T00:00:00Z', subtotal: '120', total: '120' };
    const due = { description: 'As agreed in May', due_date: '2026-03-01T00:00:00.000Z' };
    expect(await computed(draft.id, body)).toMatchObject(due);
    await expectRefused(draft, { due_date: '2026-01-31T23:59:59Z' }, 400, 'due_date');
    for (const field of ['subtotal', 'total', 'amount_due']) {
      expect(await expectRefused(draft, { [field]: '121' }, 400, field)).toContain('must be 120');
    }
  });

  it('change nothing where they are empty', async () => {
    const off = await coupon();
    const draft = await draftOf({ coupons: [off.id], tax_rates: [(await rate('10')).id] });
    const empty = {
      ...{ line_items: [], invoice_coupons: [], line_item_coupons: [], prepared_tax_rates: [] },
      ...{ description: '', due_date: null, subtotal: null, total: null, amount_due: null },
    };
    const { line_items, description, due_date, total } = draft;
    expect(await computed(draft.id, empty)).toMatchObject({ line_items, description, due_date, total });
    expect(await redemptions(off)).toBe(1);
  });
});

describe('a computation with something given', () => {
  it('that is sent again with its Idempotency-Key is carried out once', async () => {
    const draft = await draftOf();
    const off = await coupon({ max_redemptions: 1 });
    const body = { line_items: [{ quantity: '1', amount: '10' }], invoice_coupons: [{ coupon_id: off.id }] };
    const headers = { 'idempotency-key': `compute-${draft.id}` };
    const first = await compute(draft.id, body, headers);
    const second = await compute(draft.id, body, headers);
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.body).toEqual(first.body);
    expect(await redemptions(off)).toBe(1);
    // Without the key it is another computation, which comes to the same.
    expect(await computed(draft.id, body)).toMatchObject({ total: '9', total_discount: '1' });
    expect(await redemptions(off)).toBe(1);
  });

  it('is refused for one that is final, and for one that was edited by hand', async () => {
    const body = { description: 'late' };
    const draft = await draftOf();
    const edit = {
      type: 'line_item',
      line_item_params: { action: 'add', items: [{ display_name: 'More', amount: '1', quantity: '1' }] },
    };
    expect((await api('POST', `/invoices/${draft.id}/modify/execute`, edit)).status).toBe(200);
    expect(await compute(draft.id, body)).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    await api('POST', `/invoices/${draft.id}/finalize`);
    expect(await compute(draft.id, body)).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(await compute('inv_none', body)).toMatchObject({ status: 404 });
  });
});
