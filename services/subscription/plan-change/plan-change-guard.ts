import { selectPrices } from '../../../billing/price/price-selection.ts';
import { refuse } from '../../../billing/refusal.ts';
import type { ChangeTime } from '../../../billing/subscription/subscription-change.ts';
import type { BillingPeriod } from '../../../billing/time/calendar.ts';
import { badField, missing } from '../../../db/rows/record.ts';
import type { Sql } from '../../../db/transaction.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import { type PlanPrice, readPlanPrices } from '../item/subscription-item.ts';

export interface TargetPlan {
  id: string;
  name: string;
}

/**
 * The plan a subscription may change to. Throws `not_found`, and `validation_error` for the plan it has, one that is not
 * published, and a subscription that is not active or trialing, is no standalone one, is to be cancelled, is to change its plan
 * already (but for `scheduleId`), or has phases. spec: subscriptions-and-invoicing §2.9.1 Preconditions
 */
export async function changeablePlan(
  sql: Sql,
  row: SubscriptionRow,
  targetPlanId: string,
  scheduleId: string | null,
): Promise<TargetPlan> {
  const { environmentId } = row;
  if (targetPlanId === row.planId) {
    throw badField('target_plan_id', `names the plan that subscription ${row.id} has; name another`);
  }
  const [plan] = await sql.rows<TargetPlan & { status: string }>(
    'select id, name, status from plan where environment_id = $1 and id = $2 for share',
    [environmentId, targetPlanId],
  );
  if (!plan) throw missing('plan', targetPlanId, 'target_plan_id');
  if (plan.status !== 'published') {
    throw badField('target_plan_id', `names plan ${plan.id}, which is ${plan.status}; choose a published plan`);
  }
  if (row.status !== 'active' && row.status !== 'trialing') {
    throw unchangeable(`is ${row.status}; plans change while it is active or trialing`);
  }
  if (row.cancelAt !== null || row.cancelAtPeriodEnd) throw unchangeable('is to be cancelled; take that back first');
  const [facts] = await sql.rows<{ type: string; schedules: string[]; phases: number }>(
    `select s.subscription_type as type,
       array(select t.id || ' (' || t.schedule_type || ')' from subscription_schedule t where t.environment_id = $1 and t.subscription_id = $2
         and t.schedule_status = 'pending' and t.id <> $3) as schedules,
       (select count(*)::int from subscription_phase p where p.environment_id = $1 and p.subscription_id = $2 and p.status = 'published') as phases
     from subscription s where s.environment_id = $1 and s.id = $2`,
    [environmentId, row.id, scheduleId ?? ''],
  );
  if (facts?.type !== 'standalone')
    throw unchangeable(`is of type ${facts?.type}; only a standalone one changes its plan`);
  if (facts.schedules.length > 0) throw unchangeable(`has a pending schedule ${facts.schedules[0]}; cancel that first`);
  if (facts.phases > 0) throw unchangeable('has phases; its plan is theirs');
  return { id: plan.id, name: plan.name };
}

function unchangeable(problem: string): Error {
  return refuse('validation_error', `the subscription ${problem}`, { fields: { subscription_id: problem } });
}

/** The prices the subscription gets from the plan. Throws `validation_error` where it has none that fits. spec: §2.9.1 */
export async function targetPrices(
  sql: Sql,
  row: Pick<SubscriptionRow, 'environmentId' | 'currency'>,
  cadence: { billingPeriod: string; billingPeriodCount: number },
  targetPlanId: string,
  at: string,
): Promise<PlanPrice[]> {
  const candidates = await readPlanPrices(sql, row.environmentId, targetPlanId, row.currency, at);
  const period = cadence.billingPeriod as BillingPeriod;
  const prices = selectPrices({ ...cadence, billingPeriod: period }, candidates, null);
  if (prices.some((price) => price.billingPeriod !== 'ONETIME')) return prices;
  const own = `${cadence.billingPeriodCount} × ${cadence.billingPeriod}`;
  throw badField(
    'target_plan_id',
    `names a plan without a price in ${row.currency} for ${own}; add one or choose another`,
  );
}

/** When a change takes place; null for now. Throws `validation_error` for a date that is not to come. spec: §1.7 change_at */
export function scheduledFor(row: SubscriptionRow, time: ChangeTime, at: string): string | null {
  if (time === 'immediate') return null;
  if (time === 'end_of_period') return row.currentPeriodEnd;
  if (time.date <= at) throw badField('change_at', 'must be immediate, end_of_period or an instant in the future');
  if (row.endDate !== null && time.date >= row.endDate) {
    throw badField('change_at', `must be before the subscription ends at ${row.endDate}`);
  }
  return time.date;
}
