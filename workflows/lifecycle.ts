import {
  allHandlersFinished,
  CancellationScope,
  condition,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { AgendaItem } from '../billing/agenda.ts';
import { refuse } from '../billing/refusal.ts';
import { type Clock, createClock, realTime } from './clock.ts';
import { reasonOf } from './failure.ts';
import { described } from './handler-descriptions.ts';
import { type InboxEntry, inboxEntry } from './inbox.ts';
import {
  type Announced,
  type CarriedStanding,
  type LifecycleResult,
  type LifecycleSnapshot,
  retry,
  rowChanged,
  type SettleRequest,
  type Step,
  settle,
  waitingFor,
} from './lifecycle.messages.ts';
import type { Lifecycle, LifecycleDefinition, Timed } from './lifecycle-definition.ts';
import { longest, longestAtRest, type RunLength } from './run-length.ts';
import { changedAttributes, lifeText, standingOf, waitingForOf, withStep } from './standing.ts';

const creationTimeoutMs = 60_000;

/** Makes the loop of one object and registers its handlers. Call it before the first await of a workflow. */
export function createLifecycle<Snapshot extends LifecycleSnapshot>(
  definition: LifecycleDefinition<Snapshot>,
): Lifecycle<Snapshot> {
  const loop = new AgendaLoop(definition);
  return {
    clock: loop.clock,
    command: (name, command, act) => loop.command(name, command, act),
    reload: () => loop.reload(),
    run: () => unheeding(() => loop.run()),
  };
}

/**
 * Runs what Temporal is not to cancel: an object goes on until its row says that it has ended, because nothing else bills it. Whoever
 * wants to end it uses the API.
 */
function unheeding<T>(work: () => Promise<T>): Promise<T> {
  return CancellationScope.nonCancellable(work);
}

/**
 * The loop over an agenda: a command from the inbox, else the first due entry, else wait. Only the loop acts, so one object
 * never does two things at once, without a lock. design: architecture §3
 */
class AgendaLoop<Snapshot extends LifecycleSnapshot> {
  readonly clock: Clock;
  private readonly definition: LifecycleDefinition<Snapshot>;
  private readonly inbox: InboxEntry<Snapshot>[] = [];
  private announced: Announced;
  private snapshot: Snapshot | null;
  private stale = false;
  private busy = true;
  private rolling = false;
  /** How far the test clock let it go, and from there alone. */
  private told = { to: '', through: '' };
  private actions = 0;
  /** A run that waited for long ends with what it waited for. */
  private stays = false;
  private ahead = 0;
  private steps: Step[];
  /** Instant at which somebody asked Temporal to cancel the workflow, which it does not follow. */
  private cancelRequestedAt: string | null;

  constructor(definition: LifecycleDefinition<Snapshot>) {
    this.definition = definition;
    const carried = definition.start.carried as CarriedStanding<Snapshot> | undefined;
    this.snapshot = carried?.snapshot ?? null;
    this.steps = carried?.steps ?? [];
    this.cancelRequestedAt = carried?.cancelRequestedAt ?? null;
    this.announced = carried?.announced ?? { status: '', next: '', blockedOn: '' };
    this.clock = createClock(definition.start, () => this.snapshot?.spreadMs ?? 0);
    CancellationScope.current().cancelRequested.catch(() => this.noteCancellation());
    // The one that operators press stands first in their list.
    setHandler(retry, () => this.retry(), described(retry));
    setHandler(settle, (request) => unheeding(() => this.settle(request)), described(settle));
    setHandler(
      rowChanged,
      (clockTime) => {
        if (clockTime != null) this.clock.hear(clockTime);
        this.reload();
      },
      described(rowChanged),
    );
    setHandler(waitingFor, () => waitingForOf(this.snapshot, this.cancelRequestedAt), described(waitingFor));
  }

  command<Command extends Timed>(
    name: string,
    command: Command,
    act: (command: Command) => Promise<Snapshot>,
  ): Promise<Snapshot> {
    const { entry, answered } = inboxEntry(this.clock, { name, command, act });
    this.inbox.push(entry);
    return answered;
  }

  reload(): void {
    this.stale = true;
  }

  async run(): Promise<LifecycleResult> {
    await this.firstSnapshot();
    for (;;) {
      if (this.snapshot !== null) return this.live(this.snapshot);
      await condition(() => allHandlersFinished() || this.inbox.length > 0);
      const entry = this.inbox.shift();
      if (!entry) return { status: 'not created', details: 'refused, or never asked for' };
      // The object was not made: what was asked of it meanwhile is told so, or makes it after all.
      await this.answerCommand(entry);
    }
  }

  /** Ends when nothing is left to wait for. */
  private async live(first: Snapshot): Promise<LifecycleResult> {
    for (;;) {
      const { ended, status, details } = this.snapshot ?? first;
      const entry = this.inbox.shift();
      if (entry) await this.answerCommand(entry);
      else if (this.stale) await this.loadAgain();
      else if (this.isLongerThan(longest)) await this.rollOver();
      else if (this.firstDue()) await this.performFirst();
      else if (this.goOn()) continue;
      else if (ended) {
        if (await this.isOver(this.snapshot ?? first)) return { status, details };
      } else if (this.isLongerThan(longestAtRest)) await this.rollOver();
      else await this.waitForMore();
    }
  }

  /** Nothing is left to wait for; a command that comes before everybody has their answer is still carried out. */
  private async isOver(snapshot: Snapshot): Promise<boolean> {
    this.announce(snapshot);
    this.busy = false;
    await condition(() => allHandlersFinished() || this.inbox.length > 0 || this.stale);
    this.busy = true;
    return this.inbox.length === 0 && !this.stale;
  }

  private async firstSnapshot(): Promise<void> {
    if (this.definition.start.creating) await condition(() => this.inbox.length > 0, creationTimeoutMs);
    const creation = this.inbox.shift();
    if (creation) await this.answerCommand(creation);
    // A run that another left at rest has its snapshot; what changed since then has told so by `rowChanged`.
    this.snapshot ??= await this.definition.load();
  }

  private async answerCommand(entry: InboxEntry<Snapshot>): Promise<void> {
    this.actions += 1;
    try {
      this.snapshot = await entry.act();
      this.steps = withStep(this.steps, { at: entry.at(), did: entry.name });
      entry.answer(this.snapshot);
    } catch (error) {
      entry.fail(error);
    }
  }

  private async loadAgain(): Promise<void> {
    this.stale = false;
    this.actions += 1;
    this.snapshot = (await this.definition.load()) ?? this.snapshot;
  }

  private async performFirst(): Promise<void> {
    const { snapshot } = this;
    const item = this.firstDue();
    if (snapshot === null || item === null) return;
    const goesAhead = item.at > this.told.to && item.at <= this.told.through;
    if (goesAhead) this.ahead += 1;
    else this.actions += 1;
    if (!this.definition.actsAlone?.(item)) this.told.through = '';
    let did = `${item.kind} ${item.ref}`.trimEnd();
    try {
      this.snapshot = await this.definition.perform(item, snapshot);
    } catch (error) {
      // Expected outcomes are results and outages are retried inside the activity: what arrives here waits for a person.
      this.snapshot = await this.definition.park(item, reasonOf(error));
      did += ' failed and was parked';
    }
    this.steps = withStep(this.steps, { at: item.at, did });
  }

  private async rollOver(): Promise<void> {
    const { snapshot } = this;
    if (snapshot === null) return;
    this.announce(snapshot);
    this.rolling = true;
    this.busy = false;
    await condition(() => allHandlersFinished() || this.inbox.length > 0 || this.stale);
    this.busy = true;
    this.rolling = false;
    if (this.inbox.length > 0 || this.stale) return;
    const { announced, steps, cancelRequestedAt } = this;
    const carried: CarriedStanding<Snapshot> = { snapshot, announced, steps, cancelRequestedAt };
    const { start } = this.definition;
    await this.definition.rollOver({ ...start, clockTime: this.clock.heardTime, creating: false, carried });
  }

  private async waitForMore(): Promise<void> {
    const { snapshot } = this;
    if (snapshot === null) return;
    this.announce(snapshot);
    const next = snapshot.blockedOn ? null : (snapshot.agenda[0] ?? null);
    this.busy = false;
    const wake = () => this.inbox.length > 0 || this.stale;
    await this.clock.waitUntil(next?.at ?? null, wake, next ? `${next.kind} ${next.at}` : '');
    this.busy = true;
  }

  private isLongerThan({ actions, events }: RunLength): boolean {
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    if (this.snapshot !== null && this.definition.staysInRun?.(this.snapshot)) this.stays = true;
    if (this.stays) return continueAsNewSuggested;
    return this.actions > actions || historyLength - this.ahead > events || continueAsNewSuggested;
  }

  private firstDue(): AgendaItem | null {
    const first = this.snapshot?.blockedOn ? null : (this.snapshot?.agenda[0] ?? null);
    return first !== null && first.at <= this.clock.present() ? first : null;
  }

  private quiet(): boolean {
    const waits = this.firstDue() === null && this.nextAlone() === null;
    return !this.busy && this.inbox.length === 0 && !this.stale && waits;
  }

  private async settle({ to, through = '' }: SettleRequest): Promise<{ again: boolean; parked: boolean }> {
    this.told = { to, through };
    this.clock.hear(to);
    this.goOn();
    await condition(() => this.quiet() || this.rolling);
    return { again: !this.quiet(), parked: this.snapshot?.blockedOn != null };
  }

  /** Goes on to the next instant at which something is due, as far as the test clock lets the object go alone. */
  private goOn(): boolean {
    const instant = this.nextAlone();
    if (instant !== null) this.clock.hear(instant);
    return instant !== null;
  }

  private nextAlone(): string | null {
    if (this.snapshot === null || this.snapshot.blockedOn || this.clock.heardTime === null) return null;
    const { agenda } = this.snapshot;
    const at = agenda[0]?.at ?? null;
    if (at === null || at > this.told.through) return null;
    return agenda.every((item) => item.at > at || this.definition.actsAlone?.(item)) ? at : null;
  }

  /** Shows an operator where the object stands; search attributes are written only when they change. */
  private announce(snapshot: Snapshot): void {
    this.showDetails(snapshot);
    const standing = standingOf(snapshot, this.definition.start.testClockId !== null);
    const changes = changedAttributes(this.announced, standing);
    if (changes.length > 0) upsertSearchAttributes(changes);
    this.announced = standing;
  }

  private showDetails(snapshot: Snapshot): void {
    const { start } = this.definition;
    // The static summary ends with the first run; these details are told by every run.
    const { steps, cancelRequestedAt } = this;
    const object = { type: workflowInfo().workflowType, id: start.objectId, customerId: start.customerId };
    const onTestClock = start.testClockId !== null;
    setCurrentDetails(lifeText(object, { snapshot, steps, cancelRequestedAt, onTestClock }));
  }

  /** A request to cancel is told to whoever looks, and not followed. */
  private noteCancellation(): void {
    this.cancelRequestedAt = realTime();
    if (this.snapshot !== null) this.showDetails(this.snapshot);
  }

  private async retry(): Promise<{ performing: string }> {
    const performing = this.snapshot?.blockedOn;
    if (!performing) throw refuse('invalid_operation', 'the object is not parked; there is nothing to retry');
    await this.command('retry', {}, () => this.definition.unpark());
    return { performing };
  }
}
