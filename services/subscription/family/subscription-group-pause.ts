import type { ResumeTerms } from '../../../billing/line/resume-charge.ts';
import {
  pauseSubscription as decidePause,
  resumeSubscription as decideResume,
} from '../../../billing/subscription/pause.ts';
import type { Period } from '../../../billing/subscription/subscription.ts';
import { wholePeriodAt } from '../../../billing/time/whole-period.ts';
import { newId } from '../../../db/id.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { readPauses } from '../../charging/pause-read.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import { groupedChildren } from '../../invoice/draft/subscription-group.ts';
import { behindItsPhases } from '../phase/subscription-phase-cross.ts';
import { writeChanged } from '../plan-change/subscription-changed.ts';
import { creditedByPause, creditUnused } from '../plan-change/unused-charge.ts';
import { completePause, insertPause } from '../status/pause-write.ts';
import { tellChildren } from './subscription-group-leave.ts';

/** A child that is paused or resumed with the parent it is invoiced with: what it charges is on the parent's invoice. spec: §2.11 Hierarchy */
export interface InterruptedChild {
  before: SubscriptionRow;
  row: SubscriptionRow;
  period: Period;
  resume?: ResumeTerms;
  /** Where the stretch before began. */
  from: string;
}

interface Asked {
  at: string;
  prorationBehavior: 'create_prorations' | 'none' | null;
}

/**
 * Pauses the children of a group with their parent, each with a pause of its own, and gives back what they leave unused. One in its
 * trial stays in it, longer if that would end in the pause. spec: subscriptions-and-invoicing §2.11 Hierarchy
 */
export async function pauseChildren(
  sql: Sql,
  scope: Scope,
  parent: SubscriptionRow,
  { at, prorationBehavior, reason }: Asked & { reason: string },
): Promise<InterruptedChild[]> {
  const children: InterruptedChild[] = [];
  for (const child of await groupedChildren(sql, scope.environmentId, [parent])) {
    const before = await behindItsPhases(sql, scope, child, at);
    if (before.status === 'trialing') continue;
    const { state, closing } = decidePause(before, at, await readPauses(sql, scope.environmentId, before.id));
    const pauseId = newId('pause');
    const behavior = prorationBehavior ?? before.prorationBehavior;
    await creditUnused(sql, scope, { row: before, action: 'pause', behavior, effectiveAt: at, at });
    await insertPause(sql, scope, before, { pauseId, at, pauseEnd: null, reason, metadata: {} });
    const paused = { pauseStatus: 'active', activePauseId: pauseId, version: before.version + 1 } as const;
    children.push({ before, row: { ...before, ...state, ...paused }, period: closing, from: closing.start });
  }
  return children;
}

/** Resumes the children of a group with their parent. spec: subscriptions-and-invoicing §2.11 Hierarchy */
export async function resumeChildren(
  sql: Sql,
  scope: Scope,
  parent: SubscriptionRow,
  { at, prorationBehavior }: Asked,
): Promise<InterruptedChild[]> {
  const children: InterruptedChild[] = [];
  for (const child of await groupedChildren(sql, scope.environmentId, [parent])) {
    if (child.status !== 'paused') continue;
    const before = await behindItsPhases(sql, scope, child, at);
    const { state, skipped } = decideResume(before, at);
    const pauseId = before.activePauseId;
    const credited = await creditedByPause(sql, scope.environmentId, pauseId);
    const pauseStart = await completePause(sql, scope, pauseId, { at, metadata: {} });
    const behavior = prorationBehavior ?? before.prorationBehavior;
    const resume = { behavior, now: at, pauseStart, wholeStart: wholePeriodAt(before, at).start, credited };
    const resumed = { pauseStatus: 'none', activePauseId: '', version: before.version + 1 } as const;
    const row: SubscriptionRow = { ...before, ...state, ...resumed };
    const period = { start: at, end: row.currentPeriodEnd };
    children.push({ before: row, row, period, resume, from: skipped?.start ?? at });
  }
  return children;
}

/** Writes children that were paused or resumed, with events, audit and agendas. spec: §2.11 Events */
export async function writeChildTransitions(
  sql: Sql,
  scope: Scope,
  parent: SubscriptionRow,
  children: readonly InterruptedChild[],
  { at, event, action }: { at: string; event: 'subscription.paused' | 'subscription.resumed'; action: string },
): Promise<void> {
  const rows = children.map(({ row }) => row);
  const from = new Map(children.map((child) => [child.row.id, child.from]));
  const detail = ({ id }: SubscriptionRow) => ({ period_start: from.get(id), period_end: at, merged_into: parent.id });
  await writeChanged(sql, scope, rows, { action, at, event, detail });
  await tellChildren(sql, scope, parent, rows, at);
}
