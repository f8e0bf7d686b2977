import type { DemoClient } from '../../dev/demo/client.ts';
import { sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import type { Occasion } from './restless.ts';
import { createCustomer, type OtherPlans, type Place } from './strangers.ts';

/** An invoice as it must come, by arithmetic on the fingers. */
export interface ExpectedBill {
  reason: 'SUBSCRIPTION_CREATE' | 'SUBSCRIPTION_CYCLE';
  start: string;
  end: string;
  total: string;
}

/** A subscription of the family, and what it is billed. */
export interface Relative {
  code: string;
  customerId: string;
  subscriptionId: string;
  expected: ExpectedBill[];
}

const month = (number: number): string => `2001-0${number}-01T00:00:00.000Z`;

/** The invoice that closes a month, or that opens the first. */
function bill(number: number, total: string, reason: ExpectedBill['reason'] = 'SUBSCRIPTION_CYCLE'): ExpectedBill {
  return { reason, start: month(number), end: month(number + 1), total };
}

/**
 * 20 a month and 1 an event. HEIR counts three in January, SECOND joins on the 9th and counts four after it, not the two before;
 * the parent counts one in February, and HEIR's five of March come after he was removed. WARD's 200 are on the invoices that close
 * January and February: it left in March.
 */
const ofFamily = [bill(1, '20.00', 'SUBSCRIPTION_CREATE'), bill(1, '227.00'), bill(2, '221.00'), bill(3, '20.00')];
const ofWard = [bill(1, '200.00', 'SUBSCRIPTION_CREATE'), bill(3, '200.00')];

/** Somebody else pays for GUEST. */
const ofGuest = [1, 1, 2, 3].map((number, index) =>
  bill(number, '200.00', index === 0 ? 'SUBSCRIPTION_CREATE' : 'SUBSCRIPTION_CYCLE'),
);

/** A parent that a customer inherits, a subscription that will join its invoices, and one that another customer pays. */
export async function subscribeFamily(api: DemoClient, place: Place, plans: OtherPlans): Promise<Relative[]> {
  const { suffix } = place.catalogue;
  const member = (code: string, card?: string) =>
    createCustomer(api, place, { code, zone: 'UTC', ...(card ? { card } : {}) });
  for (const code of ['HEIR', 'SECOND']) await member(code);
  await member('PAYER', sandboxCardNumber('loses_answer'));
  const subscribe = async (code: string, planId: string, card: string | undefined, inheritance: object | null) => {
    const customerId = await member(code, card);
    const { id: subscriptionId } = await api.send<{ id: string }>('POST', '/subscriptions', {
      ...{ customer_id: customerId, plan_id: planId, currency: 'usd', billing_period: 'MONTHLY', start_date: month(1) },
      ...(inheritance ? { inheritance } : {}),
    });
    return { code, customerId, subscriptionId };
  };
  const heirs = { external_customer_ids_to_inherit_subscription: [`HEIR${suffix}`] };
  const payer = { invoicing_customer_external_id: `PAYER${suffix}` };
  const { familyPlanId, targetPlanId } = plans;
  return [
    {
      ...(await subscribe('FAMILY', familyPlanId, sandboxCardNumber('answers_late', 2), heirs)),
      expected: ofFamily,
    },
    { ...(await subscribe('WARD', targetPlanId, sandboxCardNumber('answers_twice'), null)), expected: ofWard },
    { ...(await subscribe('GUEST', targetPlanId, undefined, payer)), expected: ofGuest },
  ];
}

/** Who uses the family's subscription, and when. */
const used = [
  ...Array.from({ length: 3 }, () => ['HEIR', '2001-01-08']),
  ...Array.from({ length: 2 }, () => ['SECOND', '2001-01-08']),
  ...Array.from({ length: 4 }, () => ['SECOND', '2001-01-20']),
  ['FAMILY', '2001-02-03'],
  ...Array.from({ length: 5 }, () => ['HEIR', '2001-03-05']),
] as [code: string, day: string][];

/** What becomes of the family, by the number of the stop after which it is asked. */
export const familyRequests = { 0: join, 2: disinherit, 4: leave };

async function join(api: DemoClient, occasion: Occasion): Promise<void> {
  const { plans, suffix, subscriptionOf } = occasion;
  const events = used.map(([code, day], index) => ({
    event_id: `family-${index}${suffix}`,
    event_name: plans.familyEvent,
    external_customer_id: `${code}${suffix}`,
    timestamp: `${day}T12:00:00Z`,
  }));
  await api.send('POST', '/events/bulk', { events });
  await modify(api, occasion, 'inheritance', {
    external_customer_ids_to_inherit_subscription: [`SECOND${suffix}`],
  });
  await modify(api, occasion, 'grouped_invoicing', { child_subscription_ids: [subscriptionOf('WARD')] });
}

function disinherit(api: DemoClient, occasion: Occasion): Promise<unknown> {
  const external_customer_ids_to_remove = [`HEIR${occasion.suffix}`];
  return modify(api, occasion, 'inheritance', { action: 'remove', external_customer_ids_to_remove });
}

function leave(api: DemoClient, occasion: Occasion): Promise<unknown> {
  const child_subscription_ids = [occasion.subscriptionOf('WARD')];
  return modify(api, occasion, 'grouped_invoicing', { action: 'remove', child_subscription_ids });
}

function modify(
  api: DemoClient,
  { subscriptionOf }: Occasion,
  type: 'inheritance' | 'grouped_invoicing',
  params: object,
): Promise<unknown> {
  return api.send('POST', `/subscriptions/${subscriptionOf('FAMILY')}/modify/execute`, {
    type,
    [`${type}_params`]: params,
  });
}
