import type { Clock } from './clock.ts';
import { asFailure } from './failure.ts';
import type { Timed } from './lifecycle-definition.ts';

/** A command that waits for the loop of its object. */
export interface InboxEntry<Snapshot> {
  name: string;
  /** The instant it is carried out as of. */
  at(): string;
  act(): Promise<Snapshot>;
  answer(snapshot: Snapshot): void;
  fail(error: unknown): void;
}

/** A command as it waits in the inbox, and the answer to whoever sent it. */
export function inboxEntry<Snapshot, Command extends Timed>(
  clock: Clock,
  { name, command, act }: { name: string; command: Command; act: (command: Command) => Promise<Snapshot> },
): { entry: InboxEntry<Snapshot>; answered: Promise<Snapshot> } {
  const { at } = command;
  if (at != null) clock.hear(at);
  const asOf = () => (at != null && at < (clock.heardTime ?? at) ? clock.heardTime : at);
  const { promise: answered, resolve: answer, reject } = Promise.withResolvers<Snapshot>();
  const entry: InboxEntry<Snapshot> = {
    name,
    at: () => asOf() ?? clock.present(),
    act: () => act({ ...command, at: asOf() }),
    answer,
    fail: (error) => reject(asFailure(name, error)),
  };
  return { entry, answered };
}
