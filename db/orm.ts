import { MikroORM, type Options } from '@mikro-orm/postgresql';
import pg, { type Pool } from 'pg';
import { databaseConnection } from '../database-url.ts';
import { entities } from './entities/all.ts';
import { GatheringSocket } from './gathering-socket.ts';

/** The database of one process: the ORM and the pool under it, which named SQL shares. */
export interface Database {
  readonly orm: MikroORM;
  readonly pool: Pool;
  /** Connections of `inReadTransaction`. */
  readonly readPool: Pool;
  /** Connections that can COPY, which the others cannot: those send what is asked at once without waiting for answers between. */
  readonly copyPool: Pool;
  close(): Promise<void>;
}

/** Options every process opens its database with. `url` names the role; the application role is not the owner of the tables. */
export interface DatabaseOptions {
  url: string;
  poolSize?: number;
}

/** Opens the database. The caller closes it. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  return openWith(options, {});
}

async function openWith(
  options: DatabaseOptions,
  migrating: Pick<Options, 'extensions' | 'migrations'>,
): Promise<Database> {
  const connection = databaseConnection(options.url);
  const orm = await MikroORM.init({
    // The mapper would take host, role and database of a URL, and leave its parameters out.
    ...(connection.database ? { dbName: connection.database } : {}),
    entities,
    pool: { min: 0, max: options.poolSize ?? 10 },
    driverOptions: {
      ...connection,
      options: [connection.options, '-c TimeZone=UTC'].filter(Boolean).join(' '),
      pipeline: true,
      stream: () => new GatheringSocket(),
    },
    forceUtcTimezone: true,
    // Named SQL owns these schemas (metering/postgres, integrations/sandbox-gateway, api/shared-limit.ts); the mapper leaves them alone.
    schemaGenerator: { ignoreSchema: ['usage', 'sandbox_gateway', 'rate_limit'] },
    // `filters` and identity maps live in forks: the global entity manager is never used for work.
    allowGlobalContext: false,
    implicitTransactions: false,
    discovery: { warnWhenNoEntities: true },
    ...migrating,
  });
  const pool = (await (
    orm.em.getConnection() as unknown as { getNativeClient(): Promise<Pool> }
  ).getNativeClient()) as Pool;
  const readPool = poolLike(pool, { max: readers });
  const copyPool = poolLike(pool, { max: copiers, pipeline: false });
  const close = async () => {
    await Promise.all([readPool.end(), copyPool.end()]);
    await orm.close(true);
  };
  return { orm, pool, readPool, copyPool, close };
}

const readers = 4;
/** The write queue stores one batch at a time; a load prepares the next while the one before ends. */
const copiers = 4;

/** Connects to where `pool` does when it is first asked. A connection that was lost is replaced by the next one asked for. */
function poolLike({ options }: Pool, { max, pipeline = true }: { max: number; pipeline?: boolean }): Pool {
  const pool = new pg.Pool({ ...options, password: options.password, min: 0, max, pipeline });
  pool.on('connect', (client) => client.on('error', () => {}));
  pool.on('error', () => {});
  return pool;
}

/** Brings the schema up to date with the owner's role and returns the names of the migrations that ran. */
export async function migrateDatabase(ownerUrl: string): Promise<string[]> {
  // Migrations are a hundred files, which no other process needs.
  const [{ Migrator }, { migrations }] = await Promise.all([
    import('@mikro-orm/migrations'),
    import('./migrations/all.ts'),
  ]);
  const migrating = {
    extensions: [Migrator],
    migrations: {
      migrationsList: migrations,
      snapshot: false,
      silent: true,
      transactional: true,
      allOrNothing: true,
      path: new URL('./migrations', import.meta.url).pathname,
      emit: 'ts' as const,
    },
  };
  const database = await openWith({ url: ownerUrl, poolSize: 2 }, migrating);
  try {
    const applied = await database.orm.migrator.up();
    return applied.map((migration) => migration.name);
  } finally {
    await database.close();
  }
}
