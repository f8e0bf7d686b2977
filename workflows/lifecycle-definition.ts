import type { UpdateDefinition } from '@temporalio/common';
import { setHandler } from '@temporalio/workflow';
import type { AgendaItem } from '../billing/agenda.ts';
import type { Clock } from './clock.ts';
import { described } from './handler-descriptions.ts';
import type { LifecycleResult, LifecycleSnapshot, LifecycleStart } from './lifecycle.messages.ts';

/** What one kind of object does: how it is loaded, what each agenda entry performs, how it is parked, how a run rolls over. */
export interface LifecycleDefinition<Snapshot extends LifecycleSnapshot> {
  start: LifecycleStart;
  load(): Promise<Snapshot | null>;
  perform(item: AgendaItem, snapshot: Snapshot): Promise<Snapshot>;
  /** True for what touches no other object and reads no other clock than its own instant; a test clock lets it go ahead of others. */
  actsAlone?(item: AgendaItem): boolean;
  park(item: AgendaItem, reason: string): Promise<Snapshot>;
  unpark(): Promise<Snapshot>;
  rollOver(start: LifecycleStart): Promise<never>;
  /** True while the object does so little that its whole wait fits one run: operators find one workflow, and not hundreds. */
  staysInRun?(snapshot: Snapshot): boolean;
}

export interface Lifecycle<Snapshot extends LifecycleSnapshot> {
  readonly clock: Clock;
  /**
   * Puts a command into the inbox and answers when the loop has done it. Handlers do nothing else. It is carried out as of its `at`,
   * or of what the object's test clock shows by then.
   */
  command<Command extends Timed>(
    name: string,
    command: Command,
    act: (command: Command) => Promise<Snapshot>,
  ): Promise<Snapshot>;
  /** The row changed elsewhere: the loop loads it again before it does anything else. */
  reload(): void;
  /** Ends with how the object stands then, which the Temporal UI shows as the result. */
  run(): Promise<LifecycleResult>;
}

/** What people ask of an object: at an instant, but for what looks at the object as it stands. */
export interface Timed {
  at?: string | null;
}

/** Registers an Update as a command: it waits in the inbox of the object's loop and is carried out by `act`. */
export type AcceptCommand<Snapshot, Answer> = <Command extends Timed>(
  update: UpdateDefinition<Answer, [Command]>,
  act: (command: Command) => Promise<Snapshot>,
) => void;

/** How the commands of one object are registered, all of which answer what `answer` says of the object they leave. */
export function commandsOf<Snapshot extends LifecycleSnapshot, Answer>(
  lifecycle: Lifecycle<Snapshot>,
  answer: (snapshot: Snapshot) => Answer,
): AcceptCommand<Snapshot, Answer> {
  return (update, act) =>
    setHandler(
      update,
      async (command) => answer(await lifecycle.command(update.name, command, act)),
      described(update),
    );
}
