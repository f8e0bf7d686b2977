import { expect } from 'vitest';
import { sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import {
  advanceTo,
  clockedCustomer,
  type InvoiceView,
  invoicesOf,
  monthlyPlan,
  type TestPlatform,
} from '../../../support/billing.ts';

type Api = TestPlatform['api'];

export interface PhasedItem {
  id: string;
  display_name: string;
  quantity: string;
  start_date: string;
  end_date: string | null;
  subscription_phase_id: string | null;
  price_id: string;
  price: { amount: string; parent_price_id: string | null };
}

export interface PhasedView {
  id: string;
  version: number;
  subscription_status: string;
  current_period_end: string;
  line_items: PhasedItem[];
  phases: {
    id: string;
    subscription_id: string;
    start_date: string;
    end_date: string | null;
    status: string;
    metadata: object;
  }[];
  coupon_associations: { start_date: string; end_date: string | null; subscription_phase_id: string | null }[];
  message: string;
}

export interface Offer {
  planId: string;
  eventName: string;
  customerId: string;
  externalId: string;
  clockId: string;
  fixed: string;
  usage: string;
}

/** A plan of 31 a month in advance and 0.10 a call, and a customer with a card at 1 January 2026. */
export async function offerPlan(api: Api): Promise<Offer> {
  const plan = await monthlyPlan(api, { fee: '31' });
  type Prices = { items: { id: string; type: string }[] };
  const { body } = await api<Prices>('POST', '/prices/search', { plan_ids: [plan.planId] });
  const priceOf = (type: string) => body.items.find((price) => price.type === type)!.id;
  const frozenTime = '2026-01-01T00:00:00Z';
  const customer = await clockedCustomer(api, { frozenTime, card: sandboxCardNumber('succeeds') });
  return { ...plan, ...customer, fixed: priceOf('FIXED'), usage: priceOf('USAGE') };
}

export const asksFor = (api: Api, { customerId, planId }: Offer, phases: object[], terms: object = {}) =>
  api<PhasedView>('POST', '/subscriptions', {
    customer_id: customerId,
    plan_id: planId,
    currency: 'usd',
    billing_period: 'MONTHLY',
    start_date: '2026-01-01T00:00:00Z',
    phases,
    ...terms,
  });

export async function phased(api: Api, offer: Offer, phases: object[], terms: object = {}): Promise<PhasedView> {
  const { status, body } = await asksFor(api, offer, phases, terms);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

export const phasedView = async (api: Api, id: string) => (await api<PhasedView>('GET', `/subscriptions/${id}`)).body;

/** Advances a day at a time past the drafts of a boundary, to `to`. */
export const until = (api: Api, { clockId }: Offer, to: string) => advanceTo(api, clockId, to);

/** Each invoice as `reason total: line amount, …`. */
export async function told(api: Api, id: string): Promise<string[]> {
  return (await invoicesOf(api, id)).map(tell);
}

export function tell({
  billing_reason,
  total,
  line_items,
}: Pick<InvoiceView, 'billing_reason' | 'total' | 'line_items'>) {
  const lines = line_items.filter(({ amount }) => Number(amount) !== 0);
  return `${billing_reason} ${total}: ${lines.map(({ display_name, amount }) => `${display_name} ${amount}`).join(', ')}`;
}

export async function calls(
  api: Api,
  { eventName, externalId }: Offer,
  count: number,
  timestamp: string,
): Promise<void> {
  const events = Array.from({ length: count }, () => ({
    event_name: eventName,
    external_customer_id: externalId,
    timestamp,
  }));
  expect((await api('POST', '/events/bulk', { events })).status).toBe(202);
}

export const support = {
  price: {
    type: 'FIXED',
    billing_model: 'FLAT_FEE',
    billing_period: 'MONTHLY',
    invoice_cadence: 'ADVANCE',
    amount: '7',
    display_name: 'Support',
  },
};
