import { parseArgs } from 'node:util';
import type { Database } from '../db/orm.ts';
import { openDatabase } from '../db/orm.ts';
import { type ClickHouse, openClickHouse } from '../metering/clickhouse/connection.ts';
import { beginFeed, feedRound } from '../metering/clickhouse/feed.ts';
import { openClickHouseUsageStore } from '../metering/clickhouse/usage-store.ts';
import { type ComparedTo, compareEngines } from '../metering/compare-engines.ts';
import { openPostgresUsageStore } from '../metering/postgres/usage-store.ts';
import { exitCodeOf } from './exit-code.ts';
import { homeDirectory, readRunning } from './home.ts';

const help = `usage: npm run usage -- <command>, with DATABASE_URL (or a running npm start) and CLICKHOUSE_URL

  backfill [--fresh]    feeds ClickHouse until it knows every event; goes on where it was, --fresh begins anew
  compare [--from 2026-01-01] [--to 2026-02-01] [--after <environment id>/<external customer id>]
                        asks both engines about every meter and customer, month by month (the last twelve), prints
                        where their answers differ, and ends with 1 if any do`;

interface Engines {
  database: Database;
  clickhouse: ClickHouse;
}

/** `npm run usage`: brings the second usage engine up to date, and holds its answers against those of the first. */
async function main(): Promise<number> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      fresh: { type: 'boolean' },
      from: { type: 'string' },
      to: { type: 'string' },
      after: { type: 'string' },
    },
  });
  const [command] = positionals;
  const databaseUrl = process.env.DATABASE_URL || readRunning(homeDirectory())?.databaseUrl;
  const clickhouseUrl = process.env.CLICKHOUSE_URL;
  if (!databaseUrl || !clickhouseUrl || (command !== 'backfill' && command !== 'compare')) {
    console.error(help);
    return 1;
  }
  const database = await openDatabase({ url: databaseUrl, poolSize: 4 });
  const clickhouse = openClickHouse({ url: clickhouseUrl });
  try {
    if (command === 'backfill') return await backfill({ database, clickhouse }, values.fresh === true);
    return await compare({ database, clickhouse }, values);
  } finally {
    await clickhouse.close();
    await database.close();
  }
}

async function backfill({ database, clickhouse }: Engines, isFresh: boolean): Promise<number> {
  if (isFresh) await beginFeed({ database, clickhouse });
  let total = 0;
  const onProgress = ({ round, chunk, rows }: { round: number; chunk: number; rows: number }) => {
    total += rows;
    console.log(`round ${round}, chunk ${chunk}: ${rows} rows`);
  };
  while (await feedRound({ database, clickhouse, onProgress }));
  console.log(`${total} rows fed; ClickHouse knows every event`);
  return 0;
}

async function compare(
  { database, clickhouse }: Engines,
  { from, to, after }: { from?: string; to?: string; after?: string },
): Promise<number> {
  const postgres = openPostgresUsageStore(database);
  let passedOn = 0;
  const examined = openClickHouseUsageStore({
    clickhouse,
    postgres,
    onPassedOn({ message }) {
      passedOn += 1;
      console.error(`answered by PostgreSQL: ${message}`);
    },
  });
  let [questions, different] = [0, 0];
  const intervals = monthsOf(from, to);
  for await (const page of compareEngines({
    database,
    engines: [postgres, examined],
    intervals,
    after: placeOf(after),
  })) {
    questions += page.questions;
    different += page.differences.length;
    for (const { environmentId, meterId, externalCustomerId, answers, ...interval } of page.differences) {
      console.log(`${environmentId} ${meterId} ${externalCustomerId ?? 'everybody'} ${interval.from} ${interval.to}`);
      console.log(`  postgres   ${answers[0]}`);
      console.log(`  clickhouse ${answers[1]}`);
    }
    console.error(`compared to --after ${page.at.environmentId}/${page.at.externalId}`);
  }
  await postgres.close();
  console.log(
    `${questions} answers compared, ${different} differ, ${passedOn} times PostgreSQL answered for ClickHouse`,
  );
  return different === 0 && passedOn === 0 ? 0 : 1;
}

function placeOf(after: string | undefined): ComparedTo | undefined {
  if (after === undefined) return undefined;
  const slash = after.indexOf('/');
  return { environmentId: after.slice(0, slash), externalId: after.slice(slash + 1) };
}

/** The months of an interval, in UTC; of the last year without one. */
function monthsOf(from: string | undefined, to: string | undefined): { from: string; to: string }[] {
  const now = new Date();
  const end = to === undefined ? now : new Date(to);
  const begin = from === undefined ? new Date(Date.UTC(now.getUTCFullYear() - 1, now.getUTCMonth())) : new Date(from);
  const months: { from: string; to: string }[] = [];
  for (let at = begin; at < end; ) {
    const next = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1));
    const until = next < end ? next : end;
    months.push({ from: at.toISOString(), to: until.toISOString() });
    at = until;
  }
  return months;
}

process.exitCode = await exitCodeOf(main);
