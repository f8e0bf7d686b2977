import { describe, expect, it } from 'vitest';
import { monthlyPlan, subscriptionOf, testPlatform } from '../../../support/billing.ts';
import type { Wire } from '../../invoice/invoice.fixture.ts';
import { attemptSubscription, family, type Member, member, modify, ownOf } from '../hierarchy.fixture.ts';
import { otherPrice } from './preview.fixture.ts';

const { api } = await testPlatform();

type Ask = (how: 'preview' | 'execute', more?: object) => Promise<{ status: number; body: Wire }>;

/** A change that is previewed, whose version counts, and what reads what beside it. */
interface Case {
  ask: Ask;
  /** The subscription that is changed. */
  id: string;
  /** Read besides. */
  relativeId: string;
}

const note = (id: string) => api('PUT', `/subscriptions/${id}`, { metadata: { noted: 'meanwhile' } });

/** A subscription without its latest invoice, whose payment goes its own way. */
async function ownState(id: string): Promise<object> {
  return { ...(await subscriptionOf(api, id)), latest_invoice: null };
}

async function subscribed(customer: Member, planId: string, more: object = {}): Promise<string> {
  const { status, body } = await attemptSubscription(api, {
    customer_id: customer.customerId,
    plan_id: planId,
    ...more,
  });
  expect([status, body.message]).toEqual([201, undefined]);
  return body.id;
}

/** Two neighbours on one clock, and plans of their own. */
async function neighbours() {
  const plan = await monthlyPlan(api);
  const childPlan = await monthlyPlan(api, { fee: '12' });
  const parent = await member(api);
  const child = await member(api, parent.clockId);
  return { plan, childPlan, parent, child };
}

/** A parent and a child that is invoiced with it. */
async function group() {
  const { plan, childPlan, parent, child } = await neighbours();
  const children = [{ plan_id: childPlan.planId, external_customer_id: child.externalId }];
  const inheritance = { grouped_invoicing_children_to_create: children };
  const parentId = await subscribed(parent, plan.planId, { inheritance });
  return { parentId, childId: (await ownOf(api, child)).id as string, childPlan };
}

const modified =
  (id: string, body: Record<string, unknown>): Ask =>
  (how, more) =>
    modify(api, id, { ...body, ...more }, how);

async function moreSeats(id: string): Promise<Ask> {
  const [line] = (await subscriptionOf(api, id)).line_items.filter((item) => item.display_name === 'Base');
  const quantities = { line_items: [{ id: line!.id, quantity: '3' }] };
  return modified(id, { type: 'quantity_change', quantity_change_params: quantities });
}

const grouped = (childIds: string[], more: object = {}) => ({
  type: 'grouped_invoicing',
  grouped_invoicing_params: { child_subscription_ids: childIds, ...more },
});

/** What is previewed, and which member of the difference tells of the other subscription. */
const cases: Record<string, { told: 'children' | 'parent'; make(): Promise<Case> }> = {
  'a modification of a parent with a grouped child': {
    told: 'children',
    async make() {
      const { parentId, childId } = await group();
      return { ask: await moreSeats(parentId), id: parentId, relativeId: childId };
    },
  },
  'a subscription that joins a group': {
    told: 'children',
    async make() {
      const { plan, childPlan, parent, child } = await neighbours();
      const id = await subscribed(parent, plan.planId);
      const relativeId = await subscribed(child, childPlan.planId);
      return { ask: modified(id, grouped([relativeId])), id, relativeId };
    },
  },
  'a subscription that asks itself to join a group': {
    told: 'parent',
    async make() {
      const { plan, childPlan, parent, child } = await neighbours();
      const relativeId = await subscribed(parent, plan.planId);
      const id = await subscribed(child, childPlan.planId);
      const params = { parent_subscription_id: relativeId };
      const ask = modified(id, { type: 'grouped_invoicing', grouped_invoicing_params: params });
      return { ask, id, relativeId };
    },
  },
  'a subscription that leaves a group': {
    told: 'children',
    async make() {
      const { parentId, childId } = await group();
      return { ask: modified(parentId, grouped([childId], { action: 'remove' })), id: parentId, relativeId: childId };
    },
  },
  'a customer who is to inherit no longer': {
    told: 'children',
    async make() {
      const { subscriptionId: id, children } = await family(api, { children: 1 });
      const params = { action: 'remove', external_customer_ids_to_remove: [children[0]!.externalId] };
      const ask = modified(id, { type: 'inheritance', inheritance_params: params });
      return { ask, id, relativeId: (await ownOf(api, children[0]!)).id };
    },
  },
};

describe.each(Object.entries(cases))('the preview of %s', (_name, { told, make }) => {
  it('conflicts when the other subscription changed meanwhile, tells it, and nothing is done', async () => {
    const { ask, id, relativeId } = await make();
    const seen = await ask('preview');
    expect(seen.status, JSON.stringify(seen.body)).toBe(200);
    expect((await note(relativeId)).status).toBe(200);
    const before = await ownState(id);
    const refused = await ask('execute', { preview_digest: seen.body.preview_digest });
    expect([refused.status, refused.body.code], JSON.stringify(refused.body)).toEqual([409, 'version_conflict']);
    expect(Object.keys(refused.body.details.difference)).toEqual([told]);
    expect(await ownState(id)).toEqual(before);
  });

  it('is executed as long as nothing changed', async () => {
    const { ask } = await make();
    const { body } = await ask('preview');
    const done = await ask('execute', { preview_digest: body.preview_digest });
    expect(done.status, JSON.stringify(done.body)).toBe(200);
  });
});

it('the prices of a child are among those that a modification of its parent is held to', async () => {
  const { parentId, childPlan } = await group();
  const ask = await moreSeats(parentId);
  const { body } = await ask('preview');
  await otherPrice(api, childPlan);
  const refused = await ask('execute', { preview_digest: body.preview_digest });
  expect([refused.status, Object.keys(refused.body.details?.difference ?? {})]).toEqual([409, ['prices']]);
});
