import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../../db/orm.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { writeEvents } from '../../../services/platform/outbox.ts';
import { type Dump, dumpDatabase, restoreDump } from '../../support/restored-cluster.ts';
import { toldPhase } from '../../support/told-event.ts';
import { expectNoGap, firstReceipts, receiver, until, webhookWorld } from './webhook.fixture.ts';

const world = await webhookWorld(Array(200).fill(100));
const { base, emit, endpoint, work } = world;
const { scope } = base;

/** Numbers of transactions that the old cluster is ahead of a new one. */
const ahead = 20_000;

const asOwner = async <Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
};

/** Dump of a moment at which these objects have committed events that have no place in the feed yet. */
async function dumpWithUnplaced(objects: readonly string[]): Promise<Dump> {
  const client = new pg.Client({ connectionString: base.ownerUrl });
  await client.connect();
  try {
    await client.query('begin');
    await client.query('select from outbox_relay for update');
    await emit(objects);
    return await dumpDatabase(base.ownerUrl);
  } finally {
    await client.end();
  }
}

/** The world of the file with the database of a dump, in a cluster of its own. */
async function restore(dump: Dump) {
  const cluster = await restoreDump(dump);
  const database = await openDatabase({ url: cluster.applicationUrl });
  onTestFinished(async () => {
    await database.close();
    await cluster.stop();
  });
  const { ownerUrl, applicationUrl } = cluster;
  return {
    ownerUrl,
    work: () => work({ ...base, database, ownerUrl, applicationUrl }),
    emit: (objects: readonly string[]) =>
      inSqlTransaction(database, scope, (tx) =>
        writeEvents(
          tx,
          scope,
          objects.map((id) => toldPhase(id)),
        ),
      ),
  };
}

test('after a dump is restored into another cluster delivery goes on: nothing is lost, and what the restore undid is told', async () => {
  await asOwner(
    base.ownerUrl,
    `do $$ begin for n in 1..${ahead} loop perform pg_current_xact_id(); commit; end loop; end $$`,
  );
  let isBack = false;
  const to = await receiver(({ object }, response) => {
    response.writeHead(object === 'waits' && !isBack ? 500 : 200).end();
  });
  await endpoint(to.url);
  let workers = await work();
  await emit(['kept', 'undone', 'waits', 'kept', 'waits', 'undone']);
  await until(() => firstReceipts(to.received).length).toBe(5);
  const dump = await dumpWithUnplaced(['unplaced', 'kept']);
  // Sent by the old cluster, and unknown to the new one.
  await emit(['undone']);
  await until(() => to.firstOf('undone').length).toBe(3);
  await workers.stop();

  const restored = await restore(dump);
  const [numbers] = await asOwner<{ isLow: boolean }>(
    restored.ownerUrl,
    `select pg_current_xact_id() < (select min(transaction_id) from outbox_event) as "isLow"`,
  );
  expect(numbers).toEqual({ isLow: true });
  await restored.emit(['kept', 'undone', 'fresh']);
  isBack = true;
  workers = await restored.work();
  await restored.emit(['fresh', 'unplaced', 'undone']);
  const committed = await asOwner<{ id: string }>(restored.ownerUrl, 'select id from outbox_event');
  expect(committed).toHaveLength(14);
  await until(() => committed.filter(({ id }) => !to.received.some((each) => each.id === id))).toEqual([]);
  await workers.stop();

  expectNoGap(to.received.filter(({ object }) => object !== 'undone'));
  // The next event of that object comes after one that the receiver has no number for any more.
  const [, , known, next] = to.firstOf('undone');
  expect([known?.sequence, next?.sequence, next?.previous]).toEqual([3, 3, 2]);
});
