import { expect } from 'vitest';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import type { Api } from '../../support/app.ts';
import { clockedCustomer, monthlyPlan } from '../../support/billing.ts';
import type { Wire } from '../invoice/invoice.fixture.ts';
import { type Offer, offerPlan } from './change/phase.fixture.ts';

const start = '2026-01-01T00:00:00.000Z';
export const childrenToCreate = 'grouped_invoicing_children_to_create';

export interface Group {
  offer: Offer;
  payer: Awaited<ReturnType<typeof clockedCustomer>>;
  create: (child: object, terms?: object, headers?: Record<string, string>) => Promise<{ status: number; body: Wire }>;
  childId: () => Promise<string>;
}

/** A child's plan of 31 in advance and 0.10 a call, and a parent's of 100, of customers on one clock at 1 January 2026. */
export async function groupOffer(api: Api): Promise<Group> {
  const offer = await offerPlan(api);
  const { planId } = await monthlyPlan(api, { fee: '100' });
  const payer = await clockedCustomer(api, {
    frozenTime: start,
    clockId: offer.clockId,
    card: sandboxCardNumber('succeeds'),
  });
  const create: Group['create'] = (child, terms = {}, headers = {}) => {
    const children = [{ plan_id: offer.planId, external_customer_id: offer.externalId, ...child }];
    const body = { customer_id: payer.customerId, plan_id: planId, currency: 'usd', billing_period: 'MONTHLY' };
    const whole = { ...body, start_date: start, inheritance: { [childrenToCreate]: children }, ...terms };
    return api<Wire>('POST', '/subscriptions', whole, headers);
  };
  const childId = async () =>
    (await api<Wire>('POST', '/subscriptions/search', { customer_id: offer.customerId })).body.items[0]?.id;
  return { offer, payer, create, childId };
}

/** The parent that was created with its child. */
export async function madeGroup({ create }: Group, child: object, terms: object = {}): Promise<Wire> {
  const { status, body } = await create(child, terms);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}
