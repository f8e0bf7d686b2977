import { SubscriptionSchedule } from '../../../db/entities/subscription/subscription-schedule.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';

export interface ScheduleFilters {
  subscriptionId?: string | undefined;
  pendingOnly: boolean;
  limit: number;
  offset: number;
}

/** A schedule and when its subscription's customer lives. */
export interface ScheduleContent {
  row: SubscriptionSchedule;
  /** The customer's present. */
  now: string;
}

/** Schedules, the soonest first, and how many there are. spec: subscriptions-and-invoicing §1.1, §2.9.4 */
export async function listSchedules(
  tx: Transaction,
  filters: ScheduleFilters,
): Promise<{ rows: SubscriptionSchedule[]; total: number }> {
  const [rows, total] = await tx.em.findAndCount(
    SubscriptionSchedule,
    {
      environmentId: tx.scope.environmentId,
      ...(filters.subscriptionId ? { subscriptionId: filters.subscriptionId } : {}),
      ...(filters.pendingOnly ? { scheduleStatus: 'pending' } : {}),
    },
    { orderBy: { scheduledAt: 'asc', id: 'asc' }, limit: filters.limit, offset: filters.offset },
  );
  return { rows, total };
}

/** Reads one schedule. Throws `not_found`. */
export async function findSchedule(tx: Transaction, id: string): Promise<SubscriptionSchedule> {
  const row = await tx.em.findOne(SubscriptionSchedule, { id, environmentId: tx.scope.environmentId });
  if (!row) throw missing('schedule', id);
  return row;
}

/** The pending schedule of a kind, of which a subscription has one at most. Throws `not_found`. */
export async function findPendingSchedule(
  tx: Transaction,
  subscriptionId: string,
  scheduleType: string,
): Promise<SubscriptionSchedule> {
  const row = await tx.em.findOne(SubscriptionSchedule, {
    environmentId: tx.scope.environmentId,
    subscriptionId,
    scheduleType,
    scheduleStatus: 'pending',
  });
  if (!row) throw missing(`pending ${scheduleType} schedule of subscription`, subscriptionId, 'subscription_id');
  return row;
}
