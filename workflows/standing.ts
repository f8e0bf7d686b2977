import type { SearchAttributeUpdatePair } from '@temporalio/common';
import { lifecycleKindNames, lifecycleKinds } from '../lifecycles/kinds.ts';
import type { Announced, LifecycleSnapshot, Step, WaitingFor } from './lifecycle.messages.ts';
import { blockedOnKey, nextDueAtKey, statusKey } from './search-attributes.ts';

/** A run carries so many of the steps before it: those of the last two or three periods. */
const keptSteps = 8;

/** The answer to `waitingFor` of an object that stands as `snapshot` says; null is one that was not read yet. */
export function waitingForOf(snapshot: LifecycleSnapshot | null, cancelRequestedAt: string | null): WaitingFor {
  return {
    status: snapshot?.status ?? 'starting',
    next: snapshot?.agenda[0] ?? null,
    blockedOn: snapshot?.blockedOn ?? null,
    blockedReason: snapshot?.blockedReason ?? null,
    agenda: snapshot?.agenda ?? [],
    cancelRequestedAt,
  };
}

/** The search attributes an object should have. */
export function standingOf(snapshot: LifecycleSnapshot, onTestClock: boolean): Announced {
  // A test clock's instants would only mix with real ones, and its objects are due many times a second.
  const next = onTestClock ? '' : (snapshot.agenda[0]?.at ?? '');
  return { status: snapshot.status, next, blockedOn: snapshot.blockedOn ?? '' };
}

/** What of them has to be written. */
export function changedAttributes(before: Announced, now: Announced): SearchAttributeUpdatePair[] {
  return [
    ...(before.status === now.status ? [] : [{ key: statusKey, value: now.status }]),
    ...(before.next === now.next ? [] : [{ key: nextDueAtKey, value: now.next === '' ? null : new Date(now.next) }]),
    ...(before.blockedOn === now.blockedOn ? [] : [{ key: blockedOnKey, value: now.blockedOn || null }]),
  ];
}

/** How the object stands and what it waits for, in one line that tells a person what can be done. */
function standingLine({ details, blockedOn, blockedReason, agenda, ended }: LifecycleSnapshot, onTestClock: boolean) {
  if (blockedOn)
    return `${details} · **parked** at ${blockedOn}: ${oneLine(blockedReason) || 'see GET /v1/billing-run'}`;
  const next = agenda[0];
  if (!next) return `${details} · ${ended ? 'nothing left to wait for' : 'waits for commands only'}`;
  return `${details} · next: ${next.kind} at ${next.at}${onTestClock ? ' by its test clock' : ''}`;
}

function oneLine(text: string | null | undefined): string {
  return (text ?? '').replace(/\s+/g, ' ').trim();
}

/** Remedy for a parked object. */
function remedyLine({ type, id }: ObjectOfWorkflow): string {
  const kind = lifecycleKindNames.find((name) => lifecycleKinds[name].workflowType === type);
  return (
    '**What to do:** mend the cause, then send the Update `retry` of this page, ' +
    `or POST /v1/billing-run/${kind}/${id}/retry. Until then it does nothing by itself; commands still work.`
  );
}

/** The steps an operator is shown once `step` was taken. */
export function withStep(steps: readonly Step[], step: Step): Step[] {
  return [...steps, step].slice(-keptSteps);
}

/** Standing of an object, what it did last, and when it was asked to stop. */
interface Life {
  snapshot: LifecycleSnapshot;
  steps: readonly Step[];
  /** In real time; null when nobody asked Temporal to cancel the workflow. */
  cancelRequestedAt: string | null;
  onTestClock: boolean;
}

/** Identity of what a workflow looks after. */
interface ObjectOfWorkflow {
  /** Type of the workflow. */
  type: string;
  id: string;
  customerId: string;
}

function goesOnLine(requestedAt: string): string {
  return (
    `**Not cancelled:** Temporal was asked at ${requestedAt} to cancel this workflow. It goes on, because it bills; ` +
    'end what it looks after through the API, as with POST /v1/subscriptions/{id}/cancel.'
  );
}

/**
 * What an operator reads under User Metadata, in Markdown: what the object is, how it stands, what time will bring and what it did
 * last. A run that others came before begins with an almost empty history; this tells what went before.
 */
export function lifeText(object: ObjectOfWorkflow, { snapshot, steps, cancelRequestedAt, onTestClock }: Life): string {
  // The first entry is told with how the object stands, unless it is parked there.
  const further = snapshot.blockedOn ? snapshot.agenda : snapshot.agenda.slice(1);
  const toCome = further.map(({ at, kind, ref }) => `- ${at} ${kind} ${ref}`.trimEnd());
  const done = steps.toReversed().map(({ at, did }) => `- ${at} ${did}`);
  return [
    `${object.type} ${object.id}, customer ${object.customerId}`,
    standingLine(snapshot, onTestClock),
    ...(snapshot.blockedOn ? [remedyLine(object)] : []),
    ...(cancelRequestedAt ? [goesOnLine(cancelRequestedAt)] : []),
    ...listed(snapshot.blockedOn ? 'To come' : 'After that', toCome),
    ...listed('Done, the last first', done),
  ].join('\n\n');
}

function listed(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`**${title}**`, lines.join('\n')];
}
