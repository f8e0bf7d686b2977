import { Command, Option } from 'commander';
import { type Connection, connected, Problem } from './connection.ts';
import { type StreamedEvent, streamEvents, type Told } from './event-stream.ts';
import { type Before, forwardEvent, isSecret, newSecret, type Receiver } from './forward.ts';

interface ListenFlags extends Connection {
  forwardTo: string;
  types?: string;
  from: string;
  secret?: string;
}

/** Events under way at once, of different objects. */
const mostUnderWay = 8;
/** Objects whose last event is known; of the one that was forgotten first, events begin anew. */
const mostObjects = 100_000;

/** `perennial listen`: forwards outbound events to a program as webhooks. See docs/outbound-events.md. */
export function listenCommand(): Command {
  return connected(new Command('listen'))
    .description('forward outbound events to a program on your machine, signed as webhooks are')
    .requiredOption('--forward-to <url>', 'where each event is posted')
    .option('--types <types>', 'only these types, separated by commas')
    .option('--from <position>', '`now`, `beginning`, or a cursor of the feed', 'now')
    .addOption(
      new Option('--secret <secret>', 'the secret to sign with; a new one by default').env('PERENNIAL_LISTEN_SECRET'),
    )
    .action(listen);
}

async function listen(flags: ListenFlags): Promise<void> {
  const receiver = receiverOf(flags);
  const ended = new AbortController();
  // A second signal ends the process at once.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort());
  const forwarding = createForwarding(receiver, ended.signal);
  const wish = {
    from: flags.from === 'now' ? 'latest' : flags.from,
    types: flags.types,
    onLost: (problem: string) => console.error(`${problem}. Connecting again.`),
  };
  let isStarted = false;
  try {
    for await (const told of streamEvents(flags, wish, ended.signal)) {
      if (told.kind === 'event') await forwarding.take(told.event);
      else if (told.kind === 'reset') tellReset(told, isStarted ? null : flags.from);
      else {
        tellStart(receiver, flags);
        forwarding.begin(told.position);
      }
      isStarted = true;
    }
  } finally {
    ended.abort();
    await forwarding.end();
    if (isStarted) console.log(`Ended. Go on later with --from ${forwarding.position()}`);
  }
}

function tellStart(receiver: Receiver, { secret }: ListenFlags): void {
  console.log(`Ready. Events are posted to ${receiver.url}`);
  // A given secret is known to the caller, and is not shown to whoever looks on.
  if (secret === undefined) console.log(`They are signed with ${receiver.secret}`);
}

function receiverOf({ forwardTo, secret }: ListenFlags): Receiver {
  if (!URL.canParse(forwardTo) || !/^https?:$/.test(new URL(forwardTo).protocol)) {
    throw new Problem(`--forward-to must be an http or https URL, such as http://localhost:3000/hook: ${forwardTo}`);
  }
  if (secret !== undefined && !isSecret(secret)) {
    throw new Problem('--secret must be whsec_ and the base64 of 24 to 64 bytes.');
  }
  return { url: forwardTo, secret: secret ?? newSecret() };
}

/** A position that was asked for must be known; one that is lost on the way is told. */
function tellReset({ reason, position }: Extract<Told, { kind: 'reset' }>, asked: string | null): void {
  if (asked !== null) {
    throw new Problem(
      `--from must be now, beginning, or a cursor of this feed: the API does not know ${asked} (${reason}).`,
    );
  }
  console.error(`Events may be missing here (${reason}). Going on from ${position}.`);
}

/**
 * Forwards events, those of one object one after another, and of eight objects at once; `take` waits while eight are under way.
 * `position` is that behind the last event before the first that was not sent.
 */
function createForwarding(receiver: Receiver, ended: AbortSignal) {
  const underWay: { cursor: string; isDone: boolean }[] = [];
  const lines = new Map<string, Promise<void>>();
  const running = new Set<Promise<void>>();
  const past = new Map<string, Before>();
  let position = '';
  let isUnreachable = false;
  const onUnreachable = () => {
    if (!isUnreachable) console.error(`Nobody listens at ${receiver.url}. Events wait until somebody does.`);
    isUnreachable = true;
  };

  async function forward(event: StreamedEvent): Promise<void> {
    const before = past.get(event.entity_id) ?? { previous: 0, skipped: 0 };
    const forwarded = await forwardEvent(receiver, event, before, { onUnreachable, ended });
    if (!forwarded) return;
    const { result, isReceived, tookMs } = forwarded;
    isUnreachable = false;
    note(past, event, isReceived ? 0 : before.skipped + 1);
    console.log(`${event.event_type}  ${event.entity_id} ${event.sequence}  ${event.id}  ${result}  ${tookMs} ms`);
    const step = underWay.find(({ cursor }) => cursor === event.cursor);
    if (step) step.isDone = true;
    while (underWay[0]?.isDone) position = underWay.shift()?.cursor ?? position;
  }

  return {
    position: () => position,
    begin(start: string) {
      position = start;
    },
    async take(event: StreamedEvent): Promise<void> {
      while (running.size >= mostUnderWay) await Promise.race(running);
      underWay.push({ cursor: event.cursor, isDone: false });
      const sent = (lines.get(event.entity_id) ?? Promise.resolve()).then(() => forward(event));
      lines.set(event.entity_id, sent);
      const settled = sent.finally(() => {
        running.delete(settled);
        if (lines.get(event.entity_id) === sent) lines.delete(event.entity_id);
      });
      running.add(settled);
    },
    async end(): Promise<void> {
      await Promise.all(running);
    },
  };
}

function note(past: Map<string, Before>, { entity_id, sequence }: StreamedEvent, skipped: number): void {
  past.delete(entity_id);
  past.set(entity_id, { previous: sequence, skipped });
  const [oldest] = past.keys();
  if (past.size > mostObjects && oldest !== undefined) past.delete(oldest);
}
