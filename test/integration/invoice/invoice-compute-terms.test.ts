import { describe, expect, it, test } from 'vitest';
import { givenToCompute } from '../../../api/invoice/invoice-compute.schema.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { computeDraft } from '../../../services/invoice/draft/invoice-compute.ts';
import { advanceTo, created, testPlatform } from '../../support/billing.ts';
import { computedDrafts } from './computed-draft.fixture.ts';
import { billedCustomer, firstDraft, invoicesOf, type Wire } from './invoice.fixture.ts';

/* Coupons and taxes that POST /invoices/{id}/compute may give a draft. spec: subscriptions-and-invoicing §1.11.1, §2.15.2 */

const { api, base } = await testPlatform();
const { draftOf, compute, computed, expectRefused, coupon, redemptions, rate } = computedDrafts(api);

describe('invoice_coupons and line_item_coupons', () => {
  it('take the place of those of their kind, and redeem and free what changes', async () => {
    const [first, second, third] = [await coupon(), await coupon({ percentage_off: '50' }), await coupon()];
    const draft = await draftOf({
      invoice_coupons: [{ coupon_id: first.id }],
      line_item_coupons: [{ coupon_id: third.id, line_item_id: 'setup' }],
    });
    // 10 off the first line, then 10 % of 110.
    expect(draft.total).toBe('99');
    const halved = await computed(draft.id, { invoice_coupons: [{ coupon_id: second.id }] });
    expect(halved).toMatchObject({ total_discount: '65', total: '55' });
    expect([await redemptions(first), await redemptions(second), await redemptions(third)]).toEqual([0, 1, 1]);
    const moved = [{ coupon_id: third.id, line_item_id: 'training' }];
    const other = await computed(draft.id, { line_item_coupons: moved });
    expect(other.line_items.map((line: Wire) => line.line_item_discount)).toEqual(['0', '2']);
    expect([await redemptions(second), await redemptions(third)]).toEqual([1, 1]);
  });

  it('redeem once what the draft has, by its coupon or by its association, whatever the target', async () => {
    const last = await coupon({ max_redemptions: 1 });
    const draft = await draftOf({ coupons: [last.id] });
    const [{ coupon_association_id }] = draft.coupon_applications;
    const named = { coupon_id: last.id, coupon_association_id };
    for (const body of [{ invoice_coupons: [{ coupon_id: last.id }] }, { invoice_coupons: [named] }]) {
      expect(await computed(draft.id, body)).toMatchObject({ total: '108' });
      expect(await redemptions(last)).toBe(1);
    }
    const other = await coupon();
    const line_item_coupons = [{ coupon_id: last.id, line_item_id: 'setup' }];
    const both = await computed(draft.id, { invoice_coupons: [{ coupon_id: other.id }], line_item_coupons });
    expect(both.total_discount).toBe('21');
    expect([await redemptions(last), await redemptions(other)]).toEqual([1, 1]);
    await api('POST', `/invoices/${draft.id}/void`);
    expect([await redemptions(last), await redemptions(other)]).toEqual([0, 0]);
  });

  it.each<[string, () => Promise<object>, number, string]>([
    ['an unknown coupon', async () => ({ invoice_coupons: [{ coupon_id: 'coupon_x' }] }), 404, 'invoice_coupons[0]'],
    [
      'a coupon that is used up',
      async () => {
        const { id } = await coupon({ max_redemptions: 1 });
        await draftOf({ coupons: [id] });
        return { invoice_coupons: [{ coupon_id: id }] };
      },
      400,
      'invoice_coupons[0]',
    ],
    [
      'a line that is not there',
      async () => ({ line_item_coupons: [{ coupon_id: (await coupon()).id, line_item_id: 'nothing' }] }),
      400,
      'line_item_coupons[0].line_item_id',
    ],
  ])('are refused with %s, and the draft keeps what it has', async (_name, bodyOf, status, field) => {
    const kept = await coupon();
    const draft = await draftOf({ coupons: [kept.id] });
    await expectRefused(draft, await bodyOf(), status, field);
    expect(await redemptions(kept)).toBe(1);
  });
});

describe('prepared_tax_rates', () => {
  it('take the place of the rates of the draft', async () => {
    const [ten, twenty] = [await rate('10'), await rate('20')];
    const draft = await draftOf({ tax_rates: [ten.id] });
    expect(draft.total).toBe('132');
    const invoice = await computed(draft.id, {
      prepared_tax_rates: [{ ...twenty, percentage_value: '25' }],
      total: '150',
    });
    expect(invoice).toMatchObject({ total_tax: '30', total: '150', taxes: [{ tax_rate_id: twenty.id }] });
    await expectRefused(draft, { prepared_tax_rates: [{ id: 'taxrate_none' }] }, 404, 'prepared_tax_rates[0]');
  });
});

describe('a draft of a subscription', () => {
  it('is computed from its charges, with coupons, taxes and texts of its own that hold until it is final', async () => {
    const customer = await billedCustomer({ api });
    const draft = await firstDraft(api, customer);
    const half = await coupon({ percentage_off: '50' });
    const tax = await rate('20');
    const body = {
      invoice_coupons: [{ coupon_id: half.id }],
      prepared_tax_rates: [{ id: tax.id }],
      description: 'Half',
    };
    const invoice = await computed(draft.id, { ...body, subtotal: '30', total: '18' });
    expect(invoice).toMatchObject({ total_discount: '15', total_tax: '3', total: '18', description: 'Half' });
    expect((await compute(draft.id)).body.invoice).toMatchObject({ total: '18', description: 'Half' });
    expect((await api('POST', `/invoices/${draft.id}/finalize`)).status).toBe(200);
    expect((await api<Wire>('GET', `/invoices/${draft.id}`)).body).toMatchObject({ total: '18', total_discount: '15' });
    expect(await redemptions(half)).toBe(1);
  });

  it('refuses lines, which follow from what the subscription charges', async () => {
    const draft = await firstDraft(api, await billedCustomer({ api }));
    const line_items = [{ quantity: '1', amount: '1' }];
    expect(await expectRefused(draft, { line_items }, 400, 'line_items')).toContain('edit the draft');
  });

  it('of a paused period takes nothing, because it is never charged', async () => {
    const customer = await billedCustomer({ api });
    await created(api, `/subscriptions/${customer.subscriptionId}/pause`, { pause_mode: 'immediate' });
    await advanceTo(api, customer.clockId, '2026-03-15T00:00:00Z');
    const skipped = (await invoicesOf(api, customer.customerId)).find(
      (invoice: Wire) => invoice.metadata.paused === 'true',
    );
    expect((await compute(skipped.id)).body).toMatchObject({ skipped: true });
    const answer = await compute(skipped.id, { description: 'x' });
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(answer.body.message).toContain('pause');
  });
});

test('a computation whose answer got lost is not carried out again', async () => {
  const off = await coupon({ max_redemptions: 1 });
  const draft = await draftOf();
  const given = givenToCompute({
    line_items: [{ quantity: '1', amount: '10' }],
    invoice_coupons: [{ coupon_id: off.id }],
  })!;
  const order = { invoiceId: draft.id, at: '2026-02-01T00:00:00.000Z', given, commandId: 'inv_cmd_1' };
  const carryOut = async () => {
    await inSqlTransaction(base.database, base.scope, (tx) => computeDraft(tx, tx.scope, order, async () => new Map()));
    return (await api<Wire>('GET', `/invoices/${draft.id}`)).body;
  };
  const first = await carryOut();
  expect(first).toMatchObject({ total: '9', version: 2 });
  expect(await carryOut()).toEqual(first);
  expect(await redemptions(off)).toBe(1);
});
