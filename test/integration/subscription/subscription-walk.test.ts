import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SubscriptionStatus } from '../../../billing/subscription/subscription.ts';
import { mayHappen, type SubscriptionTrigger } from '../../../billing/subscription/subscription-lifecycle.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import {
  advanceTo,
  clockedCustomer,
  monthlyPlan,
  subscribe,
  subscriptionOf,
  testPlatform,
} from '../../support/billing.ts';
import { assertInvariants, assertWorkflowsAgree } from '../../support/invariants.ts';
import type { Wire } from '../invoice/invoice.fixture.ts';
import { disinherit, inherit, type Member, member, subscriptionsOf } from './hierarchy.fixture.ts';

const { api, base, temporal } = await testPlatform();
const card = sandboxCardNumber('succeeds');
const plan = await monthlyPlan(api);

/** What is asked, at which path, and which move of the table it is. */
const commands = {
  activate: { trigger: 'activate', path: 'activate', body: (now: string) => ({ start_date: now }) },
  pause: { trigger: 'pause', path: 'pause', body: () => ({}) },
  pauseAndKeep: { trigger: 'pause', path: 'pause', body: () => ({ proration_behavior: 'none' }) },
  resume: { trigger: 'resume', path: 'resume', body: () => ({}) },
  resumeAndWait: { trigger: 'resume', path: 'resume', body: () => ({ proration_behavior: 'none' }) },
  cancelLater: { trigger: 'cancelLater', path: 'cancel', body: () => ({ cancellation_type: 'end_of_period' }) },
  cancel: {
    trigger: 'cancelNow',
    path: 'cancel',
    body: () => ({ cancellation_type: 'immediate', proration_behavior: 'create_prorations' }),
  },
} as const satisfies Record<string, { trigger: SubscriptionTrigger; path: string; body(now: string): object }>;

type Command = keyof typeof commands | 'wait' | 'keep' | 'inherit' | 'disinherit';

const hourMs = 3_600_000;
const start = '2026-01-31T00:00:00Z';
const walks = 3;
const stepsAWalk = 8;
const seed = Number(process.env.WALK_SEED ?? 20_260_131);

/** Three phases, inside periods and at their ends, after which the subscription goes on as its plan has it. */
async function phasesOf(planId: string): Promise<object[]> {
  const { body } = await api<{ items: { id: string; type: string }[] }>('POST', '/prices/search', {
    plan_ids: [planId],
  });
  const fee = body.items.find(({ type }) => type === 'FIXED')!.id;
  const dates = [start, '2026-02-10T00:00:00Z', '2026-02-28T00:00:00Z', '2026-04-07T00:00:00Z'];
  return ['50', '20', '0'].map((amount, index) => ({
    start_date: dates[index],
    end_date: dates[index + 1],
    override_line_items: index === 1 ? [] : [{ price_id: fee, amount }],
  }));
}

const step = fc.record({
  // An end is rare, or every walk would be short.
  command: fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom<Command>('wait', 'pause', 'pauseAndKeep', 'resume', 'resumeAndWait') },
    { weight: 4, arbitrary: fc.constantFrom<Command>('activate', 'cancelLater', 'keep') },
    { weight: 4, arbitrary: fc.constantFrom<Command>('inherit', 'disinherit') },
    { weight: 1, arbitrary: fc.constant<Command>('cancel') },
  ),
  hours: fc.integer({ min: 1, max: 24 * 20 }),
});
const walk = fc.record({
  fields: fc.constantFrom<object>(
    {},
    { subscription_status: 'draft' },
    { trial_period_days: 10 },
    { billing_cycle: 'calendar' },
    { start_date: start, phases: await phasesOf(plan.planId) },
    { billing_period: 'WEEKLY', plan_id: (await monthlyPlan(api, { period: 'WEEKLY' })).planId },
  ),
  steps: fc.array(step, { minLength: stepsAWalk, maxLength: stepsAWalk }),
});

/** Carries out one step; true when the answer is the one that the table foretells. */
async function act(
  id: string,
  command: Exclude<Command, 'wait' | 'inherit' | 'disinherit'>,
  now: string,
): Promise<void> {
  const before = await subscriptionOf(api, id);
  const status = before.subscription_status.toLowerCase() as SubscriptionStatus;
  if (command === 'keep') {
    const body = { subscription_id: id, schedule_type: 'cancellation' };
    const { status: answered } = await api('POST', '/subscriptions/schedules/cancel', body);
    return expect(answered).toBe(before.cancel_at !== null && status !== 'cancelled' ? 200 : 404);
  }
  const { trigger, path, body } = commands[command];
  const scheduled = trigger === 'cancelLater' && before.cancel_at !== null;
  const answer = await api<{ message?: string }>('POST', `/subscriptions/${id}/${path}`, body(now));
  const allowed = mayHappen(trigger, status) && !scheduled;
  expect([command, status, answer.status], JSON.stringify(answer.body)).toEqual([command, status, allowed ? 200 : 400]);
  const after = await subscriptionOf(api, id);
  if (allowed) expect(after.version).toBeGreaterThan(before.version);
  else expect(after).toMatchObject({ version: before.version, subscription_status: before.subscription_status });
}

/** Lets somebody inherit, or no longer from the end of the period on; who inherits already, or is to leave, changes nothing. */
async function actOnHeir(id: string, action: 'add' | 'remove', heir: Member): Promise<void> {
  const before = await subscriptionOf(api, id);
  const status = before.subscription_status.toLowerCase();
  const present = (await subscriptionsOf(api, heir)).find(isPresent);
  const { status: answered, body } = await (action === 'add' ? inherit : disinherit)(api, id, [heir.externalId]);
  const allowed = action === 'add' ? status === 'active' : status !== 'cancelled' && present !== undefined;
  expect([action, status, answered], JSON.stringify(body)).toEqual([action, status, allowed ? 200 : 400]);
  const child = (await subscriptionsOf(api, heir)).find(isPresent);
  if (allowed) expect(child.cancel_at).toBe(action === 'add' ? null : (present.cancel_at ?? before.current_period_end));
}

const isPresent = ({ subscription_status }: Wire): boolean => subscription_status !== 'cancelled';

/** Who inherits has the status and the period of the parent. */
async function assertFollowed(id: string, heir: Member): Promise<void> {
  const child = (await subscriptionsOf(api, heir)).find(isPresent);
  if (!child) return;
  const { subscription_status, current_period_start, current_period_end } = await subscriptionOf(api, id);
  expect(child).toMatchObject({ subscription_status, current_period_start, current_period_end });
}

test(`whatever is asked in whatever order, the books hold after every step (seed ${seed})`, async () => {
  for (const { fields, steps } of fc.sample(walk, { numRuns: walks, seed })) {
    const { clockId, customerId } = await clockedCustomer(api, { frozenTime: start, card });
    const heir = await member(api, clockId);
    const inheritance = { external_customer_ids_to_inherit_subscription: [heir.externalId] };
    const { id } = await subscribe(api, { customer_id: customerId, plan_id: plan.planId, inheritance, ...fields });
    let now = Date.parse(start);
    for (const { command, hours } of steps) {
      now += hours * hourMs;
      const instant = new Date(now).toISOString();
      await advanceTo(api, clockId, instant);
      if (command === 'inherit' || command === 'disinherit') {
        await actOnHeir(id, command === 'inherit' ? 'add' : 'remove', heir);
      } else if (command !== 'wait') await act(id, command, instant);
      await assertFollowed(id, heir);
      await assertInvariants(base);
      await assertWorkflowsAgree(base, temporal);
    }
  }
});
