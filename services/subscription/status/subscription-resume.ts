import type { ResumeTerms } from '../../../billing/line/resume-charge.ts';
import { refuseChild } from '../../../billing/subscription/hierarchy.ts';
import { resumeSubscription as decideResume } from '../../../billing/subscription/pause.ts';
import type { ResumeOrder } from '../../../billing/subscription/subscription-command.ts';
import { wholePeriodAt } from '../../../billing/time/whole-period.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import type { AttendedSubscription } from '../../charging/subscription-snapshot.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { resumeChildren, writeChildTransitions } from '../family/subscription-group-pause.ts';
import { lockCaughtUp } from '../period/subscription-catch-up.ts';
import { skipStretch } from '../plan-change/subscription-stretch.ts';
import { creditedByPause } from '../plan-change/unused-charge.ts';
import { completePause } from './pause-write.ts';
import { issueInterruption, writeTransition } from './subscription-pause.ts';

export interface ResumeInput extends ResumeOrder {
  subscriptionId: string;
  at: string;
}

/**
 * Resumes a paused subscription now: the paused stretch gets its skipped invoice, and the rest of the current period is charged
 * in advance again as far as the customer has not paid for it. spec: subscriptions-and-invoicing §2.11
 */
export async function resumeSubscription(
  sql: Sql,
  scope: Scope,
  input: ResumeInput,
  readUsage: UsageReader,
): Promise<AttendedSubscription> {
  const { at } = input;
  const before = await lockCaughtUp(sql, scope, input, readUsage);
  refuseChild(before, 'resumed');
  const { state, skipped } = decideResume(before, at);
  const pauseId = before.activePauseId;
  let row: SubscriptionRow = {
    ...before,
    ...state,
    pauseStatus: 'none',
    activePauseId: '',
    version: before.version + 1,
  };
  if (skipped) row = await skipStretch(sql, scope, row, { pauseId, period: skipped, at });
  const pauseStart = await completePause(sql, scope, before.activePauseId, input);
  const children = await resumeChildren(sql, scope, before, input);
  const resume: ResumeTerms = {
    behavior: input.prorationBehavior ?? before.prorationBehavior,
    now: at,
    pauseStart,
    wholeStart: wholePeriodAt(before, at).start,
    credited: await creditedByPause(sql, scope.environmentId, pauseId),
  };
  if (resume.behavior === 'create_prorations' || resume.wholeStart === at) {
    const period = { start: at, end: row.currentPeriodEnd };
    const invoice = {
      before: row,
      row,
      period,
      reason: 'resume',
      resume,
      changeId: pauseId,
      at,
      readUsage,
      children,
    } as const;
    row = await issueInterruption(sql, scope, invoice);
  }
  await writeChildTransitions(sql, scope, row, children, { at, event: 'subscription.resumed', action: 'resumed' });
  return writeTransition(sql, scope, { row, at, event: 'subscription.resumed', action: 'resumed', until: at });
}
