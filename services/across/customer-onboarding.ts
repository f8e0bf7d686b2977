import {
  firstCreditsExpiry,
  type OnboardingAction,
  type OnboardingConfig,
  onboardingActions,
  subscriptionTerms,
} from '../../billing/subscription/onboarding.ts';
import { customerNow } from '../../db/clock.ts';
import { Price } from '../../db/entities/catalogue/price.ts';
import type { OnboardingResult } from '../../db/entities/customer/customer-onboarding.ts';
import { CustomerOnboarding } from '../../db/entities/customer/customer-onboarding.ts';
import { missing, newRecord } from '../../db/rows/record.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql, Transaction } from '../../db/transaction.ts';
import { writeAudit } from '../platform/audit.ts';
import { readSetting } from '../platform/setting.ts';
import { openWallet } from '../wallet/wallet-open.ts';

/** What its maker says about a new customer's onboarding. */
export interface OnboardingChoice {
  skip: boolean;
  workflowName: string | null;
}

/**
 * Notes what is to be done for a customer that this transaction makes, as the setting says now; null when there is nothing. Throws
 * `validation_error` for a workflow nobody configured. spec: platform §10.2 Onboarding
 */
export async function planOnboarding(
  tx: Transaction,
  customerId: string,
  choice: OnboardingChoice,
): Promise<string | null> {
  const config = (await readSetting(tx, 'customer_onboarding')) as OnboardingConfig;
  const actions = [...onboardingActions(config, choice)];
  if (actions.length === 0) return null;
  const row = tx.em.create(CustomerOnboarding, {
    ...newRecord(tx, 'onboarding'),
    customerId,
    workflowName: choice.workflowName,
    actions,
    results: [],
    onboardingStatus: 'pending',
    failureReason: null,
  });
  await tx.em.flush();
  const occurredAt = await customerNow(tx, customerId);
  await audit(tx, tx.scope, row.id, 'planned', occurredAt, { actions: actions.map(({ action }) => action) });
  return row.id;
}

/** An onboarding under its lock. */
export interface OnboardingRow {
  id: string;
  customerId: string;
  actions: OnboardingAction[];
  results: OnboardingResult[];
  onboardingStatus: string;
  createdAt: string;
  [column: string]: unknown;
}

/** The onboarding, locked until the transaction ends. Throws `not_found`. */
export async function lockOnboarding(sql: Sql, scope: Scope, id: string): Promise<OnboardingRow> {
  const [row] = await sql.rows<OnboardingRow>(
    `select id, customer_id as "customerId", actions, results, onboarding_status as "onboardingStatus", created_at as "createdAt"
     from customer_onboarding where environment_id = $1 and id = $2 for update`,
    [scope.environmentId, id],
  );
  if (!row) throw missing('onboarding', id);
  return row;
}

/** Notes what the next action made. The caller holds the lock. */
export async function noteResult(sql: Sql, scope: Scope, row: OnboardingRow, objectId: string): Promise<void> {
  const { action } = row.actions[row.results.length]!;
  const results = [...row.results, { action, objectId }];
  await change(sql, scope, row.id, 'pending', null, results);
  await audit(sql, scope, row.id, action, await customerNow(sql, row.customerId), { object_id: objectId });
}

/** Opens the wallet of the action at `index`; done before, it does nothing. spec: platform §12 create_wallet */
export async function onboardWallet(tx: Transaction, id: string, index: number): Promise<void> {
  const row = await lockOnboarding(tx, tx.scope, id);
  const action = row.actions[index];
  if (row.results.length > index || action?.action !== 'create_wallet') return;
  const now = await customerNow(tx, row.customerId);
  const walletId = await openWallet(tx, {
    customerId: row.customerId,
    externalCustomerId: null,
    currency: action.currency,
    priceUnit: null,
    walletType: action.wallet_type ?? 'PRE_PAID',
    name: null,
    description: null,
    conversionRate: action.conversion_rate ?? null,
    topupConversionRate: null,
    initialCredits: action.initial_credits_to_load ?? '0',
    initialCreditsExpiry: firstCreditsExpiry(action, now),
    autoTopup: null,
    alertSettings: null,
    metadata: {},
    firstCreditKey: `${id}:${index}`,
  });
  await noteResult(tx, tx.scope, row, walletId);
}

/** Currency and billing period of a subscription the action asks for. Throws `invalid_operation` where they are not clear. */
export async function onboardingTerms(tx: Transaction, action: OnboardingAction) {
  if (action.action !== 'create_subscription') throw new Error(`${action.action} has no terms`);
  const { environmentId } = tx.scope;
  const where = { environmentId, entityType: 'PLAN', entityId: action.plan_id, status: 'published', endDate: null };
  const prices = await tx.em.find(Price, where);
  return subscriptionTerms(
    action,
    prices.map(({ currency, billingPeriod, billingCadence }) => ({
      currency,
      billingPeriod: billingCadence === 'RECURRING' ? billingPeriod : null,
    })),
  );
}

/** Ends an onboarding: everything is done, or an action was refused for the reason. */
export async function endOnboarding(sql: Sql, scope: Scope, id: string, failure: string | null): Promise<void> {
  const row = await lockOnboarding(sql, scope, id);
  if (row.onboardingStatus !== 'pending') return;
  const status = failure === null ? 'completed' : 'failed';
  await change(sql, scope, id, status, failure, row.results);
  const detail = failure === null ? {} : { reason: failure };
  await audit(sql, scope, id, status, await customerNow(sql, row.customerId), detail);
}

async function change(
  sql: Sql,
  scope: Scope,
  id: string,
  status: string,
  failure: string | null,
  results: readonly OnboardingResult[],
): Promise<void> {
  await sql.rows(
    `update customer_onboarding set onboarding_status = $3, failure_reason = $4, results = $5::jsonb, updated_at = $6, updated_by = $7
     where environment_id = $1 and id = $2`,
    [scope.environmentId, id, status, failure, JSON.stringify(results), new Date().toISOString(), scope.actor],
  );
}

async function audit(
  sql: Sql,
  scope: Scope,
  objectId: string,
  action: string,
  occurredAt: string,
  detail: Record<string, unknown>,
): Promise<void> {
  await writeAudit(sql, scope, [{ objectType: 'customer_onboarding', objectId, action, occurredAt, detail }]);
}
