import { advanceClock, makeCustomer, makeSubscription } from '../../bench/account.ts';
import { sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import { personal } from './personal.ts';
import type { Stage } from './stage.ts';

const start = '2026-01-15T00:00:00Z';
const heirs = 'external_customer_ids_to_inherit_subscription';

let customers = 0;

async function customersOnClock({ platform: { api } }: Stage, count: number) {
  const { id: clockId } = await api('POST', '/test-clocks', { frozen_time: start });
  const members = await Promise.all(
    Array.from({ length: count }, async () => {
      customers += 1;
      const externalId = `related-${customers}`;
      const named = { externalId, name: personal.name, email: personal.email, clockId };
      return { externalId, customerId: await makeCustomer(api, { ...named, card: sandboxCardNumber('succeeds') }) };
    }),
  );
  return { clockId, members };
}

/** A subscription that a customer inherits for two periods: added, removed, gone. */
async function inherited(stage: Stage): Promise<void> {
  const { api } = stage.platform;
  const { clockId, members } = await customersOnClock(stage, 2);
  const [parent, child] = members;
  const { id } = await makeSubscription(api, { customer_id: parent!.customerId, plan_id: stage.planId });
  const change = (inheritance_params: object) =>
    api('POST', `/subscriptions/${id}/modify/execute`, { type: 'inheritance', inheritance_params });
  await change({ [heirs]: [child!.externalId] });
  await advanceClock(api, clockId, '2026-02-16T00:00:00Z');
  await change({ action: 'remove', external_customer_ids_to_remove: [child!.externalId] });
  await advanceClock(api, clockId, '2026-03-16T00:00:00Z');
}

/** Two subscriptions that are invoiced as one for a period. */
async function grouped(stage: Stage): Promise<void> {
  const { api } = stage.platform;
  const { clockId, members } = await customersOnClock(stage, 2);
  const [parent, child] = await Promise.all(
    members.map(({ customerId }) => makeSubscription(api, { customer_id: customerId, plan_id: stage.planId })),
  );
  const change = (id: string, grouped_invoicing_params: object) =>
    api('POST', `/subscriptions/${id}/modify/execute`, { type: 'grouped_invoicing', grouped_invoicing_params });
  await change(parent!.id, { child_subscription_ids: [child!.id] });
  await advanceClock(api, clockId, '2026-02-20T00:00:00Z');
  await change(child!.id, { action: 'remove' });
  await advanceClock(api, clockId, '2026-03-20T00:00:00Z');
}

/** Subscriptions that belong together, by the names of the histories. */
export const hierarchyScenarios: Record<string, (stage: Stage) => Promise<void>> = {
  'children-inherited': inherited,
  'children-grouped': grouped,
};
