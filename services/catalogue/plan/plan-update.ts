import type { NewCreditGrant } from '../../../billing/subscription/new-subscription.ts';
import type { Plan } from '../../../db/entities/catalogue/plan.ts';
import { badField, inElement, missing } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { archiveTemplate, grantsOf, lockGrant, renameGrant } from '../../ledger/grant-record.ts';
import { createEntitlement, type EntitlementChange, updateEntitlement } from '../entitlement/entitlement.ts';
import type { NewEntitlement } from '../entitlement/entitlement-rules.ts';
import { createTemplate } from '../grant-template.ts';
import { createPrice } from '../price/price.ts';
import { updatePlanPrice } from '../price/price-change.ts';
import type { NewPrice, SentPrice } from '../price/price-rules.ts';
import { type PlanChange, updatePlan } from './plan.ts';

/** One element of a plan update: with an id what was sent about a stored record, without one a new record of the plan. */
export type PriceElement = { id: string; sent: SentPrice } | { id: null; price: NewPrice };
export type EntitlementElement =
  | {
      id: string;
      change: EntitlementChange;
      sent: { [Member in keyof NewEntitlement]?: NewEntitlement[Member] | undefined };
    }
  | { id: null; entitlement: NewEntitlement };

/** With an id what is renamed of a grant of the plan, without one a new grant. */
export type GrantElement =
  | { id: string; name?: string | undefined; metadata?: Record<string, string> | undefined }
  | { id: null; grant: NewCreditGrant };

export interface PlanUpdate {
  plan: PlanChange;
  prices: readonly PriceElement[];
  entitlements: readonly EntitlementElement[];
  /** Null: the grants stay; else those that are missing are archived. */
  creditGrants: readonly GrantElement[] | null;
}

/**
 * Changes a plan and, element by element, what hangs on it; what the arrays do not mention stays. A bad element fails
 * everything with its index in the message. Throws what `updatePlan`, `createPrice`, `updatePlanPrice`, `createEntitlement`
 * and `updateEntitlement` throw. spec: catalogue-and-metering §3 Update
 */
export async function updateWholePlan(tx: Transaction, id: string, update: PlanUpdate): Promise<Plan> {
  const plan = await updatePlan(tx, id, update.plan);
  // New prices first: what a price names (a group, a custom currency) is locked before any price is.
  const prices = [...update.prices.entries()].sort(([, a], [, b]) => Number(a.id !== null) - Number(b.id !== null));
  for (const [index, element] of prices) {
    await inElement(`prices[${index}]`, () => applyPrice(tx, plan, element, `prices[${index}].`));
  }
  for (const [index, element] of update.entitlements.entries()) {
    await inElement(`entitlements[${index}]`, () => applyEntitlement(tx, plan, element, `entitlements[${index}].`));
  }
  if (update.creditGrants) await replaceGrants(tx, plan, update.creditGrants);
  return plan;
}

/** The array is the whole of the plan's grants; subscriptions keep what they were given. spec: wallets-and-payments §1.2 */
async function replaceGrants(tx: Transaction, plan: Plan, elements: readonly GrantElement[]): Promise<void> {
  const own = (await grantsOf(tx, 'planId', [plan.id])).get(plan.id) ?? [];
  const kept = new Set(elements.map(({ id }) => id));
  for (const grant of own) if (!kept.has(grant.id)) await archiveTemplate(tx, await lockGrant(tx, grant.id));
  for (const [index, element] of elements.entries()) {
    await inElement(`credit_grants[${index}]`, async () => {
      if (element.id === null) {
        await createTemplate(tx, { planId: plan.id, addonId: null, subscriptionId: null }, element.grant);
      } else if (own.some(({ id }) => id === element.id)) {
        await renameGrant(tx, await lockGrant(tx, element.id), element);
      } else throw missing('credit grant of the plan', element.id, `credit_grants[${index}].id`);
    });
  }
}

async function applyPrice(tx: Transaction, plan: Plan, element: PriceElement, path: string): Promise<void> {
  if (element.id !== null) {
    await updatePlanPrice(tx, plan.id, element.id, element.sent, path);
    return;
  }
  await createPrice(tx, { ...element.price, ...ownerOf(plan, element.price, path) }, path);
}

async function applyEntitlement(tx: Transaction, plan: Plan, element: EntitlementElement, path: string): Promise<void> {
  if (element.id === null) {
    await createEntitlement(tx, { ...element.entitlement, ...ownerOf(plan, element.entitlement, path) }, path);
    return;
  }
  ownerOf(plan, element.sent, path);
  const stored = await updateEntitlement(tx, element.id, element.change, path, plan.id);
  for (const member of ['featureId', 'featureType'] as const) {
    if (element.sent[member] !== undefined && element.sent[member] !== stored[member]) {
      throw badField(
        `${path}${member === 'featureId' ? 'feature_id' : 'feature_type'}`,
        'cannot be changed; create another entitlement',
      );
    }
  }
}

/** The plan as owner of an element, which may name it but no other. */
function ownerOf(plan: Plan, sent: { entityType?: string | undefined; entityId?: string | undefined }, path: string) {
  if (sent.entityType !== undefined && sent.entityType !== 'PLAN')
    throw badField(`${path}entity_type`, 'must be PLAN in a plan update');
  if (sent.entityId !== undefined && sent.entityId !== plan.id)
    throw badField(`${path}entity_id`, `must be ${plan.id}, the plan of the update`);
  return { entityType: 'PLAN', entityId: plan.id };
}
