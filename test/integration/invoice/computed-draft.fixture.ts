import { expect } from 'vitest';
import type { Api } from '../../support/app.ts';
import { clockedCustomer, created } from '../../support/billing.ts';
import type { Wire } from './invoice.fixture.ts';

let codes = 0;

/** Drafts of people and computations of them, over one API. */
export function computedDrafts(api: Api) {
  /** A draft of one person over a line of 100 and one of 20. */
  async function draftOf(more: object = {}): Promise<Wire> {
    const { customerId } = await clockedCustomer(api, { frozenTime: '2026-02-01T00:00:00Z' });
    return created<Wire>(api, '/invoices', {
      customer_id: customerId,
      currency: 'usd',
      subtotal: '120',
      total: '120',
      amount_due: '120',
      invoice_status: 'DRAFT',
      description: 'As agreed',
      line_items: [
        { display_name: 'Set-up', quantity: '1', amount: '100', metadata: { line_item_id: 'setup' } },
        { display_name: 'Training', quantity: '2', amount: '20', metadata: { line_item_id: 'training' } },
      ],
      ...more,
    });
  }

  const compute = (id: string, body?: object, headers = {}) =>
    api<Wire>('POST', `/invoices/${id}/compute`, body as Record<string, unknown>, headers);

  /** The draft after a computation that was accepted. */
  async function computed(id: string, body: object): Promise<Wire> {
    const answer = await compute(id, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body.invoice;
  }

  /** A refusal that names its field and leaves the draft as it was. */
  async function expectRefused(draft: Wire, body: object, status: number, field: string): Promise<string> {
    const read = async () => (await api<Wire>('GET', `/invoices/${draft.id}`)).body;
    const before = await read();
    const answer = await compute(draft.id, body);
    const code = status === 404 ? 'not_found' : 'validation_error';
    expect(answer, JSON.stringify(answer.body)).toMatchObject({ status, body: { code } });
    expect(Object.keys(answer.body.details.fields), answer.body.message).toContain(field);
    expect(await read()).toEqual(before);
    return answer.body.message;
  }

  const coupon = (more: object = {}) => {
    codes += 1;
    const value = { type: 'percentage', percentage_off: '10' };
    return created<Wire>(api, '/coupons', { name: 'C', coupon_code: `CG${codes}`, cadence: 'once', ...value, ...more });
  };
  const redemptions = async ({ id }: Wire) => (await api<Wire>('GET', `/coupons/${id}`)).body.total_redemptions;
  const rate = (percentage_value: string) => {
    codes += 1;
    return created<Wire>(api, '/taxes/rates', { name: 'R', code: `cg${codes}`, percentage_value });
  };

  return { draftOf, compute, computed, expectRefused, coupon, redemptions, rate };
}
