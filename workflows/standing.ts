import type { SearchAttributeUpdatePair } from '@temporalio/common';
import type { Announced, LifecycleSnapshot } from './lifecycle.messages.ts';
import { blockedOnKey, nextDueAtKey, statusKey } from './search-attributes.ts';

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
export function standingLine({ details, blockedOn, agenda, ended }: LifecycleSnapshot, onTestClock: boolean): string {
  if (blockedOn) return `${details} · parked at ${blockedOn}: GET /v1/billing-run tells why, the Update retry goes on`;
  const next = agenda[0];
  if (!next) return `${details} · ${ended ? 'nothing left to wait for' : 'waits for commands only'}`;
  return `${details} · next: ${next.kind} at ${next.at}${onTestClock ? ' by its test clock' : ''}`;
}
