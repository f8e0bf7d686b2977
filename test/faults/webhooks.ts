import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { poll } from '../../dev/processes.ts';
import type { Installation } from './installation.ts';
import type { Random } from './random.ts';

/** Types with several events of one object, and the invoice, whose body is made when it is sent. */
const eventTypes = [
  ...['payment.created', 'payment.pending', 'payment.success', 'payment.failed', 'payment.updated'],
  ...['subscription.created', 'subscription.updated', 'subscription.cancelled', 'invoice.update.finalized'],
];
/** Number of first attempts of which one is not received. */
const refusedEvery = 60;
const catchUpLimitMs = 120_000;
const lookEveryMs = 500;

/** First receipt of an event. */
interface Receipt {
  id: string;
  object: string;
  sequence: number;
  previous: number;
  skipped: number;
}

/** A receiver of webhooks in this process, which refuses some events at their first attempt. */
export interface WebhookReceiver {
  /** Name and port, which the installation has to allow. */
  host: string;
  /** Events that were received. */
  readonly count: number;
  /** Registers it, once: the answer shows a secret, so it is not repeated for a repeated request. */
  connect(installation: Pick<Installation, 'apiUrl' | 'apiKey'>): Promise<void>;
  /** Waits until every event it is due has come, then answers the gaps and disorders it saw; none when all is right. */
  problems(ownerUrl: string): Promise<string[]>;
  close(): void;
}

/** Starts a receiver. design: people-and-events §A 4, 6 (I10) */
export async function startWebhookReceiver(random: Random): Promise<WebhookReceiver> {
  const receipts: Receipt[] = [];
  const known = new Set<string>();
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      const receipt = receiptOf(request.headers);
      const isFirst = request.headers['webhook-attempt'] === '1';
      if (isFirst && random.whole(refusedEvery) === 0) return void response.writeHead(500).end();
      if (!known.has(receipt.id)) {
        known.add(receipt.id);
        receipts.push(receipt);
      }
      response.writeHead(204).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    get count() {
      return receipts.length;
    },
    async connect({ apiUrl, apiKey }) {
      const answer = await fetch(`${apiUrl}/v1/webhooks/endpoints`, {
        method: 'POST',
        headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
        body: JSON.stringify({ url: `http://${host}/hook`, event_types: eventTypes }),
      });
      if (answer.status !== 201) throw new Error(`the receiver was not registered: ${await answer.text()}`);
    },
    async problems(ownerUrl) {
      const isComplete = async () => ((await missingEvents(ownerUrl, known)) === 0 ? true : undefined);
      if (await poll(isComplete, catchUpLimitMs, lookEveryMs)) return disordersOf(receipts);
      return [`${await missingEvents(ownerUrl, known)} events were not received in ${catchUpLimitMs / 1000} s`];
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function receiptOf(headers: IncomingHttpHeaders): Receipt {
  const text = (name: string) => String(headers[`webhook-${name}`]);
  return {
    id: text('id'),
    object: text('object'),
    sequence: Number(text('sequence')),
    previous: Number(text('previous')),
    skipped: Number(text('skipped')),
  };
}

async function missingEvents(ownerUrl: string, known: ReadonlySet<string>): Promise<number> {
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ id: string }>(
      `select e.id from webhook_filter w join outbox_event e on e.environment_id = w.environment_id
       left join outbox_feed f on f.environment_id = e.environment_id and f.event_id = e.id
       where e.event_name = any(w.event_types) and coalesce(f.feed_position > w.from_position, true)`,
    );
    return rows.filter(({ id }) => !known.has(id)).length;
  } finally {
    await client.end();
  }
}

/** Events of an object that do not go up, do not name the one before them, or say that one was given up. */
function disordersOf(receipts: readonly Receipt[]): string[] {
  const last = new Map<string, number>();
  const problems: string[] = [];
  for (const { id, object, sequence, previous, skipped } of receipts) {
    const before = last.get(object) ?? 0;
    if (sequence <= before || previous !== before || skipped !== 0) {
      problems.push(
        `${id} of ${object} is ${sequence} after ${before}, and says after ${previous}, ${skipped} skipped`,
      );
    }
    last.set(object, sequence);
  }
  return problems;
}
