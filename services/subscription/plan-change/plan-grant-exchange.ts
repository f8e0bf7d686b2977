import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import { firstApplication, insertApplications, insertGrants, readGrants } from '../../ledger/credit-grant-row.ts';
import { checkRates } from '../../ledger/grant-record.ts';
import { copyOfGrant, endGrant } from '../period/subscription-grant.ts';

/**
 * Ends the credit grants that a subscription has from its plan at the instant of a change, and copies those of the other plan
 * from then on, or from the end of a trial. What was asked for beside the plan's, and credits that were granted, stay. Throws
 * `validation_error` when the other plan's credits are worth something else than those that stay.
 * spec: subscriptions-and-invoicing §2.9.1; wallets-and-payments §2.15
 */
export async function exchangePlanGrants(
  sql: Sql,
  scope: Scope,
  before: SubscriptionRow,
  planId: string,
  at: string,
): Promise<void> {
  const held = await readGrants(sql, scope.environmentId, 'g.subscription_id = $2', before.id);
  const running = held.filter(({ endDate }) => endDate === null || endDate > at);
  for (const grant of running) {
    if (grant.originPlanId !== null) await endGrant(sql, scope, grant.id, at);
  }
  const templates = await readGrants(sql, scope.environmentId, 'g.plan_id = $2', planId);
  if (templates.length === 0) return;
  checkRates([...running.filter(({ originPlanId }) => originPlanId === null), ...templates], 'target_plan_id');
  const startDate = before.status === 'trialing' && before.trialEnd !== null ? before.trialEnd : at;
  const grants = templates.map((template) => ({
    ...copyOfGrant(template, before, { startDate, endDate: before.endDate }),
    originPlanId: planId,
  }));
  await insertGrants(sql, scope, grants);
  await insertApplications(
    sql,
    scope,
    grants.map((grant) => firstApplication(grant, before.timezone)),
  );
}
