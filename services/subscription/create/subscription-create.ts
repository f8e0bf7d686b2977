import { selectPrices } from '../../../billing/price/price-selection.ts';
import { targetSequence } from '../../../billing/price/price-sync.ts';
import type { NewAttachment, NewSubscription } from '../../../billing/subscription/new-subscription.ts';
import type { BillingPeriod } from '../../../billing/time/calendar.ts';
import { writeRows, writeRowsAndWait } from '../../../db/rows/bulk.ts';
import { badField, inPart, takenKey } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import { type Sql, violatedUniqueIndex } from '../../../db/transaction.ts';
import { writeOverrides } from '../../catalogue/entitlement/entitlement-override.ts';
import { openingPeriod } from '../../charging/subscription-period.ts';
import {
  insertSubscriptions,
  readSubscriptions,
  type SubscriptionRow,
  subscriptionRecord,
} from '../../charging/subscription-row.ts';
import { type AttendedSubscription, one, readAgendas, refreshAgendas } from '../../charging/subscription-snapshot.ts';
import { noteUnpriced } from '../../charging/unpriced-time.ts';
import { linkSubscriptionTaxes } from '../../customer/tax-link.ts';
import { linkSubscriptionCoupons } from '../../invoice/terms/coupon-link.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import { watchThreshold } from '../../usage-mark.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { writeAttachment } from '../addon/addon-attachment.ts';
import { followParents } from '../family/subscription-follow.ts';
import { tellChildren } from '../family/subscription-group-leave.ts';
import {
  checkFamily,
  checkGrouped,
  createFamily,
  groupedCustomer,
  hierarchyOf,
  payerOfParent,
  refuseHeir,
  termsOfGroup,
} from '../family/subscription-hierarchy-create.ts';
import { newLineItems } from '../item/new-line-items.ts';
import { insertLineItems, readPlanPrices, readUsagePrices } from '../item/subscription-item.ts';
import { applyDueGrants } from '../period/credit-grant-apply.ts';
import { grantCredits } from '../period/subscription-grant.ts';
import { checkThreshold } from '../period/subscription-threshold.ts';
import { writePhases } from '../phase/subscription-phase-create.ts';
import { subscriptionEvent } from '../read/subscription-event.ts';
import { checkPaymentMethod, readCustomer, readPayer, readPlan } from './new-subscription-facts.ts';
import { newRow } from './new-subscription-row.ts';
import type { RecordedOpening } from './paid-opening.ts';
import { issueOpening } from './subscription-opening.ts';

/**
 * Creates a subscription with its line items and its opening (or trial-start) invoice in the caller's transaction. The same
 * id again answers the subscription that exists. Throws `OpeningToPay` when it must be paid before and `paid` is null.
 * spec: subscriptions-and-invoicing §2.3
 */
export async function createSubscription(
  sql: Sql,
  scope: Scope,
  input: NewSubscription,
  readUsage: UsageReader,
  paid: RecordedOpening | null = null,
): Promise<AttendedSubscription> {
  const existing = await readSubscriptions(sql, scope.environmentId, [input.subscriptionId]);
  if (existing.size > 0) return one(await readAgendas(sql, scope.environmentId, [...existing.values()]));
  const { row, planName } = await writeSubscription(sql, scope, input, null);
  const children = await createChildren(sql, scope, row, input);
  if (input.draft) {
    await createFamily(sql, scope, row, input, readUsage);
    return one(await refreshAgendas(sql, scope.environmentId, [row]));
  }
  const opened = await issueOpening(sql, scope, {
    row,
    planName,
    at: input.at,
    period: openingPeriod(row),
    readUsage,
    paid,
    children,
    ...(input.replaces ? { replaces: input.replaces } : {}),
  });
  await applyDueGrants(sql, scope, opened, input.at);
  await createFamily(sql, scope, opened, input, readUsage);
  await followParents(sql, scope, [{ row: opened, at: input.at }]);
  return one(await refreshAgendas(sql, scope.environmentId, [opened]));
}

/** Makes the subscriptions of other customers that are invoiced with this one from its opening on. spec: §2.3.1 step 15, §2.13 */
async function createChildren(
  sql: Sql,
  scope: Scope,
  parent: SubscriptionRow,
  { hierarchy, draft, at }: NewSubscription,
): Promise<SubscriptionRow[]> {
  const wanted = hierarchy.groupedChildren;
  const name = 'inheritance.grouped_invoicing_children_to_create';
  if (wanted.length > 0 && draft)
    throw badField(name, 'cannot be combined with subscription_status draft; group them later');
  const rows: SubscriptionRow[] = [];
  for (const [index, { customerExternalId: externalId, creation, trialDays = null }] of wanted.entries()) {
    const customerId = await groupedCustomer(sql, scope, parent, { externalId, field: `${name}[${index}]` });
    const { row } = await writeSubscription(sql, scope, { ...creation, at, customerId }, { parent, trialDays }).catch(
      (error) => {
        throw inPart(`${name}[${index}]`, error);
      },
    );
    await checkGrouped(sql, row);
    await applyDueGrants(sql, scope, row, at);
    rows.push(row);
  }
  await tellChildren(sql, scope, parent, rows, at);
  await refreshAgendas(sql, scope.environmentId, rows);
  return rows;
}

/** Writes a subscription with all that hangs on it, before its opening invoice; `group` is whose invoices it is on. */
export async function writeSubscription(
  sql: Sql,
  scope: Scope,
  input: NewSubscription,
  group: { parent: SubscriptionRow; trialDays: number | null } | null,
): Promise<{ row: SubscriptionRow; planName: string }> {
  const { customer, plan, candidates, usagePrices } = await readSurroundings(sql, scope, input, group !== null);
  const ofParent = await payerOfParent(sql, scope, input.hierarchy);
  const invoicingCustomerId = ofParent ?? (await readPayer(sql, scope, customer.id, input.invoicingExternalId));
  await checkPaymentMethod(sql, scope, invoicingCustomerId, input.gatewayPaymentMethodId);
  const cadence = { billingPeriod: input.billingPeriod as BillingPeriod, billingPeriodCount: input.billingPeriodCount };
  const prices = selectPrices(cadence, candidates, input.includePriceIds);
  checkThreshold(input.autoInvoiceThreshold, prices, hierarchyOf(input.hierarchy).subscriptionType);
  const syncedPriceSequence = targetSequence(usagePrices);
  const row: SubscriptionRow = {
    ...newRow(scope, input, customer, prices),
    invoicingCustomerId,
    syncedPriceSequence,
    ...(group ? termsOfGroup(group.parent, group.trialDays) : {}),
  };
  await checkFamily(sql, row);
  await insertRow(sql, scope, row);
  await watchThreshold(sql, scope, row.autoInvoiceThreshold);
  const items = await newLineItems(sql, scope, row, { name: plan.name, prices }, input);
  await insertLineItems(sql, items);
  const attached = await attachAll(sql, scope, row, input.addons);
  if (items.length + attached + (input.phases[0]?.lineItems.length ?? 0) === 0) {
    throw badField(
      'plan_id',
      `names a plan without a price in ${input.currency} for ${input.billingPeriod}; add one or choose another`,
    );
  }
  await writeOverrides(sql, scope, { subscriptionId: row.id, planId: row.planId }, input.overrideEntitlements);
  await linkSubscriptionTaxes(sql, scope, row, input.taxRateOverrides, input.at);
  await linkSubscriptionCoupons(sql, scope, row, input.coupons, input.at);
  const phased = await writePhases(sql, scope, row, { planName: plan.name, prices, items }, input);
  await grantCredits(sql, scope, row, input.creditGrants);
  const created = input.draft ? 'subscription.draft.created' : 'subscription.created';
  await writeEvents(sql, scope, [subscriptionEvent(created, row, input.at), ...phased]);
  await writeAudit(sql, scope, [
    {
      objectType: 'subscription',
      objectId: row.id,
      action: 'created',
      version: row.version,
      occurredAt: input.at,
      detail: { plan_id: row.planId, status: row.status },
    },
  ]);
  const isUnpriced = prices.every((price) => price.startDate > row.startDate);
  if (isUnpriced) await noteUnpriced(sql, scope, row, { from: row.startDate, at: input.at });
  return { row, planName: plan.name };
}

/** What a new subscription is made from; of several things that are wrong with it the first is told. */
async function readSurroundings(sql: Sql, scope: Scope, input: NewSubscription, isChild: boolean) {
  const { environmentId } = scope;
  const [customer, plan, , candidates, usagePrices] = await Promise.all([
    readCustomer(sql, scope, input.customerId),
    readPlan(sql, scope, input.planId),
    isChild ? null : refuseHeir(sql, scope, input.customerId),
    readPlanPrices(sql, environmentId, input.planId, input.currency, input.startDate ?? input.at),
    readUsagePrices(sql, environmentId, input.planId),
  ]);
  return { customer, plan, candidates, usagePrices };
}

/** Attaches the add-ons a subscription is created with, from its start on; the number of their line items. spec: §2.3.1 step 16 */
async function attachAll(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  attachments: readonly NewAttachment[],
): Promise<number> {
  let items = 0;
  for (const [index, attachment] of attachments.entries()) {
    const field = `addons[${index}].addon_id`;
    items += (await writeAttachment(sql, scope, row, { attachment, at: row.startDate, field })).items.length;
  }
  return items;
}

async function insertRow(sql: Sql, scope: Scope, row: SubscriptionRow): Promise<void> {
  const record = subscriptionRecord(row, scope.actor, new Date().toISOString());
  if (row.lookupKey === '') return writeRows(sql, insertSubscriptions, [record]);
  await sql.rows('savepoint keyed_subscription');
  try {
    await writeRowsAndWait(sql, insertSubscriptions, [record]);
  } catch (error) {
    if (violatedUniqueIndex(error) !== 'subscription_lookup_key_unique') throw error;
    await sql.rows('rollback to savepoint keyed_subscription');
    const [holder] = await sql.rows<{ id: string }>(
      "select id from subscription where environment_id = $1 and lookup_key = $2 and status = 'published'",
      [scope.environmentId, row.lookupKey],
    );
    throw takenKey('subscription', row.lookupKey, holder?.id);
  }
}
