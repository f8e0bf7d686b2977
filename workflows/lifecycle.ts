import {
  ActivityFailure,
  ApplicationFailure,
  allHandlersFinished,
  condition,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { AgendaItem } from '../billing/agenda.ts';
import { refuse } from '../billing/refusal.ts';
import { type Clock, createClock } from './clock.ts';
import {
  type LifecycleSnapshot,
  type LifecycleStart,
  retry,
  rowChanged,
  settle,
  waitingFor,
} from './lifecycle.messages.ts';
import { blockedOnKey, nextDueAtKey, statusKey } from './search-attributes.ts';

/** What one kind of object does: how it is loaded, what each agenda entry performs, how it is parked, how a run rolls over. */
export interface LifecycleDefinition<Snapshot extends LifecycleSnapshot> {
  start: LifecycleStart;
  load(): Promise<Snapshot | null>;
  perform(item: AgendaItem, snapshot: Snapshot): Promise<Snapshot>;
  park(item: AgendaItem, reason: string): Promise<Snapshot>;
  unpark(): Promise<Snapshot>;
  rollOver(start: LifecycleStart): Promise<never>;
}

export interface Lifecycle<Snapshot extends LifecycleSnapshot> {
  readonly clock: Clock;
  /** Puts a command into the inbox and answers when the loop has done it. Handlers do nothing else. */
  command(name: string, at: string | null, act: () => Promise<Snapshot>): Promise<Snapshot>;
  /** The row changed elsewhere: the loop loads it again before it does anything else. */
  reload(): void;
  run(): Promise<void>;
}

interface InboxEntry<Snapshot> {
  act(): Promise<Snapshot>;
  answer(snapshot: Snapshot): void;
  fail(error: unknown): void;
}

/** A run rolls over past this many history events, so that replaying any live object stays cheap. */
const maxHistoryEvents = 80;
const creationTimeoutMs = 60_000;

/**
 * The loop over an agenda: a command from the inbox, else the first due entry, else wait. Only the loop acts, so one object
 * never does two things at once, without a lock. design: architecture §3
 */
export function createLifecycle<Snapshot extends LifecycleSnapshot>(
  definition: LifecycleDefinition<Snapshot>,
): Lifecycle<Snapshot> {
  const inbox: InboxEntry<Snapshot>[] = [];
  let snapshot: Snapshot | null = null;
  let stale = false;
  let busy = true;
  let rolling = false;
  const announced: Announced = { status: '', next: null, blockedOn: '' };
  const clock = createClock(definition.start, () => snapshot?.spreadMs ?? 0);

  const firstDue = (): AgendaItem | null => {
    const first = snapshot?.blockedOn ? null : (snapshot?.agenda[0] ?? null);
    return first !== null && first.at <= clock.now() ? first : null;
  };
  const quiet = () => !busy && inbox.length === 0 && !stale && firstDue() === null;

  function command(name: string, at: string | null, act: () => Promise<Snapshot>): Promise<Snapshot> {
    if (at !== null) clock.hear(at);
    return new Promise<Snapshot>((answer, fail) => {
      inbox.push({ act, answer, fail: (error) => fail(asFailure(name, error)) });
    });
  }

  setHandler(settle, async ({ to }) => {
    clock.hear(to);
    await condition(() => quiet() || rolling || snapshot?.ended === true);
    return { again: rolling && !quiet(), parked: snapshot?.blockedOn != null };
  });
  setHandler(retry, async () => {
    if (!snapshot?.blockedOn) throw refuse('invalid_operation', 'the object is not parked; there is nothing to retry');
    const performing = snapshot.blockedOn;
    await command('retry', null, () => definition.unpark());
    return { performing };
  });
  const reload = () => {
    stale = true;
  };
  setHandler(rowChanged, reload);
  setHandler(waitingFor, () => ({
    status: snapshot?.status ?? 'starting',
    next: snapshot?.agenda[0] ?? null,
    blockedOn: snapshot?.blockedOn ?? null,
    agenda: snapshot?.agenda ?? [],
  }));

  async function answerCommand(entry: InboxEntry<Snapshot>): Promise<void> {
    try {
      snapshot = await entry.act();
      entry.answer(snapshot);
    } catch (error) {
      entry.fail(error);
    }
  }

  async function performItem(current: Snapshot, item: AgendaItem): Promise<void> {
    try {
      snapshot = await definition.perform(item, current);
    } catch (error) {
      // Expected outcomes are results and outages are retried inside the activity: what arrives here waits for a person.
      snapshot = await definition.park(item, reasonOf(error));
    }
  }

  async function firstSnapshot(): Promise<void> {
    if (definition.start.creating) await condition(() => inbox.length > 0, creationTimeoutMs);
    const creation = inbox.shift();
    if (creation) await answerCommand(creation);
    snapshot ??= await definition.load();
  }

  async function run(): Promise<void> {
    await firstSnapshot();
    while (snapshot !== null) {
      announce(snapshot, announced);
      const entry = inbox.shift();
      if (entry) {
        await answerCommand(entry);
        continue;
      }
      if (stale) {
        stale = false;
        snapshot = (await definition.load()) ?? snapshot;
        continue;
      }
      if (shouldRollOver()) {
        rolling = true;
        busy = false;
        await condition(() => allHandlersFinished() || inbox.length > 0);
        busy = true;
        if (inbox.length === 0)
          await definition.rollOver({ ...definition.start, clockTime: clock.heardTime, creating: false });
        continue;
      }
      const due = firstDue();
      if (due) {
        await performItem(snapshot, due);
        continue;
      }
      if (snapshot.ended) break;
      busy = false;
      const next = snapshot.blockedOn ? null : (snapshot.agenda[0] ?? null);
      await clock.waitUntil(next?.at ?? null, () => inbox.length > 0 || stale, next ? `${next.kind} ${next.at}` : '');
      busy = true;
    }
    busy = false;
    await condition(allHandlersFinished);
  }

  return { clock, command, reload, run };
}

function shouldRollOver(): boolean {
  const info = workflowInfo();
  return info.historyLength > maxHistoryEvents || info.continueAsNewSuggested;
}

interface Announced {
  status: string;
  next: string | null;
  blockedOn: string;
}

/** Shows an operator where the object stands; search attributes are written only when they change. */
function announce(snapshot: LifecycleSnapshot, announced: Announced): void {
  const next = snapshot.agenda[0] ?? null;
  const then = next ? ` · then: ${next.kind} ${next.at}` : '';
  setCurrentDetails(
    snapshot.blockedOn ? `parked: ${snapshot.blockedOn} · ${snapshot.details}` : `${snapshot.details}${then}`,
  );
  const blockedOn = snapshot.blockedOn ?? '';
  if (
    announced.status === snapshot.status &&
    announced.next === (next?.at ?? null) &&
    announced.blockedOn === blockedOn
  )
    return;
  const changes = [
    { key: statusKey, value: snapshot.status },
    { key: nextDueAtKey, value: next ? new Date(next.at) : null },
    ...(announced.blockedOn === blockedOn ? [] : [{ key: blockedOnKey, value: blockedOn === '' ? null : blockedOn }]),
  ];
  upsertSearchAttributes(changes);
  announced.status = snapshot.status;
  announced.next = next?.at ?? null;
  announced.blockedOn = blockedOn;
}

/** Whatever a command threw as a failure that fits through an Update: a plain error in a handler would block the workflow. */
function asFailure(name: string, error: unknown): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  if (error instanceof ActivityFailure && error.cause instanceof ApplicationFailure) return error.cause;
  return ApplicationFailure.nonRetryable(`${name} failed: ${reasonOf(error)}`, 'internal_error');
}

function reasonOf(error: unknown): string {
  const cause = error instanceof ActivityFailure && error.cause ? error.cause : error;
  return cause instanceof Error ? cause.message.slice(0, 500) : String(cause).slice(0, 500);
}
