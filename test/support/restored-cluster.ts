import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { prepareDatabase } from '../../db/prepare.ts';
import { freePort } from '../../dev/ports.ts';
import { startPostgres } from '../../dev/postgres.ts';
import { removeDirectory } from '../../dev/postgres-account.ts';
import { applicationPassword } from './servers.ts';

/** Rows of a database at one moment, as a logical dump has them: all values as they are, ids of transactions included. */
export interface Dump {
  /** Rows of each table that has some, by its name with the columns that are not computed. */
  tables: ReadonlyMap<string, Buffer>;
  /** Last value that each sequence gave. */
  sequences: { name: string; last: string }[];
}

/** A cluster of its own that a dump was restored into. */
export interface RestoredCluster {
  applicationUrl: string;
  ownerUrl: string;
  stop(): Promise<void>;
}

const noDurability = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' };

/** Reads everything a database has in one snapshot, while others go on writing. */
export async function dumpDatabase(ownerUrl: string): Promise<Dump> {
  return withClient(ownerUrl, async (client) => {
    await client.query('begin isolation level repeatable read read only');
    const tables = new Map<string, Buffer>();
    const { rows } = await client.query<{ columns: string }>(tablesText);
    for (const { columns } of rows) {
      const data = await buffer(client.query(copyTo(`copy ${columns} to stdout`)));
      if (data.length > 0) tables.set(columns, data);
    }
    const { rows: sequences } = await client.query<{ name: string; last: string }>(sequencesText);
    await client.query('commit');
    return { tables, sequences };
  });
}

/** Starts a new cluster, whose transactions have low numbers, and restores a dump into it. */
export async function restoreDump({ tables, sequences }: Dump): Promise<RestoredCluster> {
  const directory = mkdtempSync(join(tmpdir(), 'perennial-restored-'));
  // PostgreSQL started by root runs under another account, which must get into the directory.
  chmodSync(directory, 0o711);
  const postgres = await startPostgres({
    directory: join(directory, 'postgres'),
    port: await freePort(),
    password: 'restored',
    logFile: join(directory, 'postgres.log'),
    settings: noDurability,
  });
  const { ownerUrl, applicationUrl } = await prepareDatabase({
    ownerUrl: postgres.url('perennial'),
    applicationPassword,
  });
  await withClient(ownerUrl, async (client) => {
    await client.query('begin');
    await client.query(`set local session_replication_role = 'replica'`);
    for (const [columns, data] of tables) {
      await client.query(`delete from ${columns.slice(0, columns.indexOf(' ('))}`);
      await pipeline(Readable.from([data]), client.query(copyFrom(`copy ${columns} from stdin`)));
    }
    for (const { name, last } of sequences) await client.query('select setval($1, $2)', [name, last]);
    await client.query('commit');
  });
  return {
    ownerUrl,
    applicationUrl,
    async stop() {
      await postgres.stop();
      removeDirectory(join(directory, 'postgres'));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const tablesText = `
select format('%I.%I (%s)', n.nspname, c.relname, string_agg(quote_ident(a.attname), ', ' order by a.attnum)) as columns
from pg_class c join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
where c.relkind = 'r' and c.relname <> 'mikro_orm_migrations'
group by n.nspname, c.relname`;

const sequencesText = `
select format('%I.%I', schemaname, sequencename) as name, last_value::text as last from pg_sequences
where schemaname = 'public' and last_value is not null`;
