import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import type { Sql } from '../../../../db/transaction.ts';
import { poll } from '../../../../dev/processes.ts';
import { eventKey, prepareEvent } from '../../../../metering/event.ts';
import { openPostgresUsageStore } from '../../../../metering/postgres/usage-store.ts';
import { testDatabase } from '../../../support/database.ts';
import { newMeter, usageOf } from '../../../support/metering.ts';

const base = await testDatabase();
const { database, scope } = base;
const store = openPostgresUsageStore(database);
const nothing = async () => undefined;

const batchOf = (eventName: string, customer: string, id: string = randomUUID()) => [
  prepareEvent({
    event_id: id,
    event_name: eventName,
    external_customer_id: customer,
    timestamp: '2026-01-10T10:00:00Z',
    properties: {},
  }),
];

/** A connection beside those of the store, and what it says of all of them. */
async function connected() {
  const client = new pg.Client({ connectionString: base.ownerUrl });
  await client.connect();
  onTestFinished(() => client.end());
  const pid = (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
  const seen = async (condition: string) => {
    const holds = async () => ((await client.query(`select 1 where ${condition}`)).rowCount ? true : undefined);
    if (!(await poll(holds, 20_000))) throw new Error(`never seen: ${condition}`);
  };
  return { client, pid, seen };
}

async function environmentNumber({ client }: { client: pg.Client }): Promise<number> {
  const text = 'select number from environment where id = $1';
  return (await client.query<{ number: number }>(text, [scope.environmentId])).rows[0]?.number ?? 0;
}

const waits = (pid: number | undefined) => `exists (select from pg_locks where pid = ${pid} and not granted)`;
/** The server has the databases of other tests too, and environments of the same number in them. */
const holdEnvironment = (env: number, writers: number) =>
  `${writers} = (select count(*) from pg_locks where locktype = 'advisory' and classid = 7101 and objid = ${env} and granted
    and database = (select oid from pg_database where datname = current_database()))`;

test('a batch that is repeated after a deadlock is not kept waiting by the batch that waits for it', async () => {
  const meter = await newMeter(database, scope, { type: 'COUNT' }, { eventName: 'repeated' });
  await store.load(scope, batchOf('repeated', 'acme'), nothing);
  const [rival, builder, watch] = [await connected(), await connected(), await connected()];
  const env = await environmentNumber(watch);
  const contested = randomUUID();
  await rival.client.query(`set deadlock_timeout = '1h'`);
  await rival.client.query('begin');
  await rival.client.query('select pg_advisory_xact_lock(1, 2)');

  const under = Promise.withResolvers<Promise<unknown>[]>();
  let tries = 0;
  const untilDeadlock = async (sql: Sql) => {
    tries += 1;
    if (tries > 1) return;
    // The rival wants the key that this batch has just written, and this batch what the rival holds: only the batch gives way.
    const given = rival.client.query('insert into usage.event_key (env, key) values ($1, $2)', [
      env,
      eventKey(contested),
    ]);
    await watch.seen(waits(rival.pid));
    const next = store.load(scope, batchOf('repeated', 'acme'), nothing, first);
    await watch.seen(holdEnvironment(env, 2));
    const built = builder.client.query('select pg_advisory_lock(7101, $1)', [env]);
    await watch.seen(waits(builder.pid));
    // Of the repeated batch and the rival either may be the first to have the key then.
    under.resolve([given.catch(() => undefined).then(() => rival.client.query('rollback')), next, built]);
    await sql.rows('select pg_advisory_xact_lock(1, 2)');
  };
  const first = store.load(scope, batchOf('repeated', 'acme', contested), untilDeadlock);
  first.catch(under.reject);
  await Promise.all([first, ...(await under.promise)]);
  await builder.client.query('select pg_advisory_unlock(7101, $1)', [env]);
  expect(tries).toBe(2);
  expect(await usageOf(database, store, scope, { meterId: meter.id })).toBe('3');
});

test('before its turn a batch writes nothing that another one waits for, not even a customer nobody has met', async () => {
  const meter = await newMeter(database, scope, { type: 'COUNT' }, { eventName: 'unmet' });
  const watch = await connected();
  const env = await environmentNumber(watch);
  const turn = Promise.withResolvers<void>();
  const next = store.load(scope, batchOf('unmet', 'newcomer'), nothing, turn.promise);
  await watch.seen(`${holdEnvironment(env, 1)} and exists (select from pg_stat_activity
    where datname = current_database() and state = 'idle in transaction')`);
  await store.load(scope, batchOf('unmet', 'newcomer'), nothing);
  turn.resolve();
  await next;
  expect(await usageOf(database, store, scope, { meterId: meter.id, externalCustomerIds: ['newcomer'] })).toBe('2');
});
