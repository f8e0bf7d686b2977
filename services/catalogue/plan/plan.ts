import { LockMode } from '@mikro-orm/core';
import { refuse } from '../../../billing/refusal.ts';
import { Plan } from '../../../db/entities/catalogue/plan.ts';
import { Subscription } from '../../../db/entities/subscription/subscription.ts';
import { newId } from '../../../db/id.ts';
import { badField, missing, newRecord, refuseArchived, takenKey, touch } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { flushUnique } from '../../../db/unique.ts';
import { writeAudit } from '../../platform/audit.ts';
import { watchThreshold } from '../../usage-mark.ts';
import { insertEntitlement, publishedEntitlements } from '../entitlement/entitlement.ts';
import { holdGroups } from '../group.ts';
import { pricesOfPlans } from '../price/price.ts';
import { columnsOf } from '../price/price-change.ts';
import { insertPriceCopies } from '../price/price-copy.ts';
import { holdPriceUnits } from '../price/price-unit.ts';
import { copiedEntitlement, copyGrants, grantsOfPlan } from './plan-copy.ts';

export interface NewPlan {
  name: string;
  lookupKey?: string | undefined;
  description?: string | undefined;
  displayOrder?: number | null | undefined;
  /** Null: none. */
  autoInvoiceThreshold?: string | null | undefined;
  metadata?: Record<string, string> | undefined;
}

/** What may change of a plan; an absent member stays. */
export type PlanChange = { [Member in keyof NewPlan]?: NewPlan[Member] | undefined };

/** Creates a plan. Throws `validation_error`, `already_exists` for a taken lookup key. spec: catalogue-and-metering §3 */
export async function createPlan(tx: Transaction, input: NewPlan): Promise<Plan> {
  refuseBlankName(input.name);
  const plan = tx.em.create(Plan, {
    ...newRecord(tx, 'plan'),
    name: input.name,
    lookupKey: input.lookupKey ?? '',
    description: input.description ?? '',
    displayOrder: input.displayOrder ?? null,
    autoInvoiceThreshold: input.autoInvoiceThreshold ?? null,
    metadata: input.metadata ?? {},
  });
  await flushPlan(tx, plan);
  await watchThreshold(tx, tx.scope, plan.autoInvoiceThreshold);
  await auditPlan(tx, plan, 'created');
  return plan;
}

/** A plan of this environment, archived or not; throws `not_found`. */
export async function findPlan(tx: Transaction, id: string): Promise<Plan> {
  const plan = await tx.em.findOne(Plan, { id, environmentId: tx.scope.environmentId });
  if (!plan) throw missing('plan', id);
  return plan;
}

/** The plans of the given ids, by id. */
export async function plansById(tx: Transaction, ids: readonly string[]): Promise<Map<string, Plan>> {
  if (ids.length === 0) return new Map();
  const plans = await tx.em.find(Plan, { id: { $in: [...new Set(ids)] }, environmentId: tx.scope.environmentId });
  return new Map(plans.map((plan) => [plan.id, plan]));
}

/**
 * Changes a plan's own members; absent ones stay. Throws `not_found`, `invalid_operation` on an archived plan,
 * `already_exists` for a taken lookup key. spec: catalogue-and-metering §3 Update
 */
export async function updatePlan(tx: Transaction, id: string, change: PlanChange): Promise<Plan> {
  const plan = await lockPlan(tx, id);
  refuseArchived('plan', plan);
  if (change.name !== undefined) {
    refuseBlankName(change.name);
    plan.name = change.name;
  }
  if (change.lookupKey !== undefined) plan.lookupKey = change.lookupKey;
  if (change.description !== undefined) plan.description = change.description;
  if (change.displayOrder !== undefined) plan.displayOrder = change.displayOrder;
  if (change.autoInvoiceThreshold !== undefined) plan.autoInvoiceThreshold = change.autoInvoiceThreshold;
  if (change.metadata !== undefined) plan.metadata = change.metadata;
  touch(tx, plan);
  await flushPlan(tx, plan);
  await watchThreshold(tx, tx.scope, plan.autoInvoiceThreshold);
  await auditPlan(tx, plan, 'updated');
  return plan;
}

/**
 * Archives a plan; its prices and entitlements stay readable, and repeating it changes nothing. Throws `not_found`, and
 * `invalid_operation` while a subscription that is not cancelled uses it. The plan is locked, and whoever creates a
 * subscription locks it too, so that neither misses the other. spec: catalogue-and-metering §3 Delete, §13 row 8
 */
export async function archivePlan(tx: Transaction, id: string): Promise<void> {
  const plan = await lockPlan(tx, id);
  if (plan.status !== 'published') return;
  const user = await tx.em.findOne(Subscription, {
    environmentId: tx.scope.environmentId,
    planId: id,
    status: 'published',
    subscriptionStatus: { $ne: 'cancelled' },
  });
  if (user) {
    throw refuse(
      'invalid_operation',
      `plan ${id} is used by subscription ${user.id}; cancel or move its subscriptions first`,
      {
        subscription_id: user.id,
      },
    );
  }
  plan.status = 'archived';
  touch(tx, plan);
  await tx.em.flush();
  await auditPlan(tx, plan, 'archived');
}

export interface PlanCopy extends NewPlan {
  lookupKey: string;
}

/**
 * Copies a plan with its own prices that have not ended (they start now and have no lookup key), its published
 * entitlements and credit grants, all under new ids. Throws `not_found`, `already_exists`. spec: catalogue-and-metering §3 Clone
 */
export async function clonePlan(tx: Transaction, id: string, copy: PlanCopy): Promise<Plan> {
  refuseBlankName(copy.name);
  const source = await findPlan(tx, id);
  const plan = await createPlan(tx, {
    name: copy.name,
    lookupKey: copy.lookupKey,
    description: copy.description ?? source.description,
    displayOrder: copy.displayOrder === undefined ? source.displayOrder : copy.displayOrder,
    autoInvoiceThreshold:
      copy.autoInvoiceThreshold === undefined ? source.autoInvoiceThreshold : copy.autoInvoiceThreshold,
    metadata: { ...source.metadata, ...copy.metadata, source_plan_id: source.id },
  });
  await copyPrices(tx, source, plan);
  const entitlements = (await publishedEntitlements(tx, [source.id])).get(source.id) ?? [];
  for (const entitlement of entitlements) {
    await insertEntitlement(tx, copiedEntitlement(entitlement, { planId: plan.id, featureId: entitlement.featureId }));
  }
  await copyGrants(tx, await grantsOfPlan(tx, source.id), plan.id);
  return plan;
}

async function copyPrices(tx: Transaction, source: Plan, plan: Plan): Promise<void> {
  const named = await tx.rows<{ group_id: string | null; price_unit_id: string | null }>(
    `select distinct group_id, price_unit_id from price where environment_id = $1 and entity_type = 'PLAN' and entity_id = $2`,
    [tx.scope.environmentId, source.id],
  );
  const groups = await holdGroups(
    tx,
    named.map((price) => price.group_id),
  );
  await holdPriceUnits(
    tx,
    named.map((price) => price.price_unit_id),
  );
  const prices = (await pricesOfPlans(tx, [source.id], true)).get(source.id) ?? [];
  const copies = prices.map((price) => {
    const displayName = price.type === 'FIXED' && price.displayName === source.name ? plan.name : price.displayName;
    const groupId = price.groupId && groups.has(price.groupId) ? price.groupId : null;
    const own = {
      entityId: plan.id,
      parentPriceId: null,
      lookupKey: '',
      startDate: plan.createdAt,
      displayName,
      groupId,
    };
    return { id: newId('price'), sourceId: price.id, columns: { ...columnsOf(price), ...own } };
  });
  await insertPriceCopies(tx, copies);
}

async function lockPlan(tx: Transaction, id: string): Promise<Plan> {
  const where = { id, environmentId: tx.scope.environmentId };
  const plan = await tx.em.findOne(Plan, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!plan) throw missing('plan', id);
  return plan;
}

async function flushPlan(tx: Transaction, plan: Plan): Promise<void> {
  await flushUnique(tx, { plan_lookup_key_unique: () => takenKey('plan', plan.lookupKey) });
}

function refuseBlankName(name: string): void {
  if (name.trim() === '') throw badField('name', 'must not be blank');
}

function auditPlan(tx: Transaction, plan: Plan, action: string): Promise<void> {
  const detail = {
    name: plan.name,
    lookup_key: plan.lookupKey,
    display_order: plan.displayOrder,
    auto_invoice_threshold: plan.autoInvoiceThreshold ?? null,
  };
  return writeAudit(tx, tx.scope, [
    { objectType: 'plan', objectId: plan.id, action, occurredAt: plan.updatedAt, detail },
  ]);
}
