import { expect } from 'vitest';
import type { Api } from '../../../support/app.ts';
import { clockedCustomer, monthlyPlan } from '../../../support/billing.ts';
import type { Wire } from '../../invoice/invoice.fixture.ts';

/** A plan, subscriptions to it with terms of their own, and the usage line of an invoice. */
export function subscribedItems(api: Api) {
  /** A plan of 30 in advance and 0.10 a call, the ids of its prices, and a customer at 2026-01-15. */
  async function offer(): Promise<Wire> {
    const plan = await monthlyPlan(api);
    const { body } = await api<Wire>('POST', '/prices/search', { plan_ids: [plan.planId] });
    const priceOf = (type: string) => body.items.find((price: Wire) => price.type === type).id;
    const clocked = await clockedCustomer(api, { frozenTime: '2026-01-15T00:00:00Z' });
    return { ...plan, ...clocked, fixed: priceOf('FIXED'), usage: priceOf('USAGE') };
  }
  const subscribing = ({ customerId, planId }: Wire, terms: Record<string, unknown>) =>
    api<Wire>('POST', '/subscriptions', {
      customer_id: customerId,
      plan_id: planId,
      currency: 'usd',
      billing_period: 'MONTHLY',
      ...terms,
    });
  async function subscribed(on: Wire, terms: Record<string, unknown>): Promise<Wire> {
    const answer = await subscribing(on, terms);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body;
  }
  const usageLine = ({ line_items }: Wire) => line_items.find((line: Wire) => line.price_type === 'USAGE');
  return { offer, subscribing, subscribed, usageLine };
}
