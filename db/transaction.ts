import type { EntityManager } from '@mikro-orm/postgresql';
import type { CompiledQuery, QueryResult } from 'kysely';
import type { Pool, PoolClient, QueryResultRow, QueryResult as Result } from 'pg';
import { refusalIn } from '../billing/refusal.ts';
import type { Database } from './orm.ts';
import type { Scope } from './scope.ts';

/**
 * Named SQL inside a transaction. Values travel as parameters (`$1`, `$2`, …), never in the text. Timestamps arrive as
 * PostgreSQL text (`instantText`), numerics as strings (`decimalText`), jsonb parsed. A statement that runs with every step of a
 * lifecycle, and whose planning costs more than its answer, names its `plan`: the connection keeps it. One name is one text, always,
 * and the text names its columns: the shape of `*` may change under a kept plan.
 */
export interface Sql {
  rows<Row extends QueryResultRow = QueryResultRow>(
    text: string,
    values?: readonly unknown[],
    plan?: string,
  ): Promise<Row[]>;
  /**
   * Like `rows` for a statement whose answer nobody reads; it may be still under way then. Statements are carried out in the order
   * they were asked, and what one that was sent fails with is thrown by the next that is waited for, at the latest by the end of
   * the transaction. Who catches what a statement fails with waits for it with `rows`.
   */
  send(text: string, values?: readonly unknown[], plan?: string): Promise<void>;
  /** Absent where nothing is committed, as in a transaction that only reads. */
  readonly end?: TransactionEnd;
}

/** Work for the end of a transaction; none of it is done when the transaction is rolled back. */
export interface TransactionEnd {
  /** Last statements, in the order they were noted: for rows that others must not wait for longer than the commit takes. */
  readonly beforeCommit: (() => Promise<void>)[];
  /** Told once it has committed. What it throws is nobody's. */
  readonly afterCommit: (() => void)[];
}

/** Named SQL and whose it is. */
export interface ScopedSql extends Sql {
  readonly scope: Scope;
}

/** A transaction of one scope: the ORM and named SQL on the same connection. */
export interface Transaction extends ScopedSql {
  readonly em: EntityManager;
}

/** A transaction of one scope for named SQL only: the path for everything that runs per event, per close or per debit. */
export interface SqlTransaction extends ScopedSql {
  readonly client: PoolClient;
}

/** A transaction on a connection that can COPY. */
export interface CopyTransaction extends SqlTransaction {
  readonly canCopy: true;
}

/**
 * Runs `work` in one transaction of `scope` and commits when it returns. Row-level security sees the scope through two
 * transaction-local settings; what `work` throws rolls everything back. The mapper and named SQL ask on one connection, in one order.
 * design: architecture §5, §6
 */
export async function inTransaction<T>(
  database: Database,
  scope: Scope,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return onStatements(database, scope, async ({ ask, rows, send, end }) => {
    const em = database.orm.em.fork();
    em.setTransactionContext(mapperContext(ask));
    const result = await work({ em, scope, rows, send, end });
    await em.flush();
    return result;
  });
}

/** Like `inTransaction`, without the mapper: for what runs per event, per close or per debit. */
export async function inSqlTransaction<T>(
  database: Database,
  scope: Scope,
  work: (tx: SqlTransaction) => Promise<T>,
): Promise<T> {
  return onStatements(database, scope, ({ rows, send, end }, client) => work({ client, scope, rows, send, end }));
}

async function onStatements<T>(
  database: Database,
  scope: Scope,
  work: (statements: Statements & { end: TransactionEnd }, client: PoolClient) => Promise<T>,
): Promise<T> {
  const end: TransactionEnd = { beforeCommit: [], afterCommit: [] };
  const committed = await onConnection(database.pool, async (client) => {
    const statements = statementsOn(client);
    await statements.send(beginText(scope));
    try {
      const result = await work({ ...statements, end }, client);
      for (const last of end.beforeCommit) await last();
      const { command } = await client.query('commit');
      // After a statement that failed, to commit is to roll back, and no error.
      if (command !== 'COMMIT')
        throw new Error('the transaction was rolled back, because a statement of it had failed');
      return result;
    } catch (error) {
      throw (await statements.failure()) ?? error;
    } finally {
      statements.close();
    }
  });
  for (const told of end.afterCommit) told();
  return committed;
}

/** What the mapper asks of a transaction that it did not begin itself: Kysely's `executeQuery`. */
function mapperContext(ask: Statements['ask']) {
  return {
    async executeQuery({ sql, parameters }: CompiledQuery): Promise<QueryResult<unknown>> {
      const { command, rowCount, rows } = await ask(sql, parameters);
      return command === 'SELECT' ? { rows } : { rows, numAffectedRows: BigInt(rowCount ?? 0) };
    },
  };
}

/** Like `inSqlTransaction`, on a connection that can COPY and waits for each statement. */
export async function inCopyTransaction<T>(
  database: Database,
  scope: Scope,
  work: (tx: CopyTransaction) => Promise<T>,
): Promise<T> {
  return onConnection(database.copyPool, async (client) => {
    const { rows } = statementsOn(client);
    // Such a connection takes one statement at a time.
    const send = async (...statement: Parameters<Sql['send']>) => void (await rows(...statement));
    await send(beginText(scope));
    const result = await work({ client, scope, rows, send, canCopy: true });
    await send('commit');
    return result;
  });
}

/** Gives `work` a connection, which is rolled back when it throws, and is not used again when that fails too. */
async function onConnection<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let lost: Error | undefined;
  try {
    return await work(client);
  } catch (error) {
    await client.query('rollback').catch((rollbackError: Error) => {
      lost = rollbackError;
    });
    throw error;
  } finally {
    client.release(lost);
  }
}

/**
 * Like `inSqlTransaction` for work that only reads and is asked all the time: what `work` asks at once is one round trip, the first
 * of it together with the beginning, and the answer does not wait for the end. A write is refused by the database. Where a migration
 * changed a table under the kept plans of connections, `work` is done again on another one.
 */
export async function inReadTransaction<T>(
  database: Database,
  scope: Scope,
  work: (tx: SqlTransaction) => Promise<T>,
): Promise<T> {
  for (let outdated = 0; ; outdated += 1) {
    try {
      return await readOnce(database, scope, work);
    } catch (error) {
      if (outdated === database.readPool.options.max || !isOutdatedPlan(error)) throw error;
    }
  }
}

async function readOnce<T>(database: Database, scope: Scope, work: (tx: SqlTransaction) => Promise<T>): Promise<T> {
  const client = await database.readPool.connect();
  const read = [client.query(beginText(scope, 'begin read only')), work(sqlOn(client, scope))] as const;
  const outcome = Promise.all(read).then(([, result]) => result);
  // After a failure that nobody foresaw, more of the work may be on its way: its connection is not used again.
  void outcome
    .catch((error: Error) => refusalIn(error) ?? Promise.reject(error))
    .then(() => client.query('rollback'))
    .then(
      () => client.release(),
      (error: Error) => client.release(error),
    );
  return outcome;
}

/** "cached plan must not change result type": a column came to, or left, a table that is read as a whole. */
function isOutdatedPlan(error: unknown): boolean {
  return error instanceof Error && (error as { code?: string }).code === '0A000';
}

const transactionIsAborted = '25P02';

interface Statements extends Sql {
  /** Like `rows`, with what else PostgreSQL says of the statement. */
  ask<Row extends QueryResultRow>(text: string, values?: readonly unknown[], plan?: string): Promise<Result<Row>>;
  /** What the first statement failed with that was sent, until it was told. */
  failure(): Promise<unknown>;
  /** From here on nothing is asked: of work that was done at once a part may go on after another failed. */
  close(): void;
}

function statementsOn(client: PoolClient): Statements {
  let failed: unknown;
  let lastSent: Promise<void> = Promise.resolve();
  let isOver = false;
  const failure = async () => {
    await lastSent;
    const first = failed;
    failed = undefined;
    return first;
  };
  const query = async <Row extends QueryResultRow>(text: string, values: readonly unknown[] = [], plan?: string) => {
    if (isOver) throw new Error('the transaction of this statement is over');
    const statement = { text, values: values as unknown[] };
    return client.query<Row>(plan === undefined ? statement : { ...statement, name: keptPlan(plan, text) });
  };
  const ask = async <Row extends QueryResultRow>(text: string, values?: readonly unknown[], plan?: string) => {
    try {
      const answer = await query<Row>(text, values, plan);
      // Back at a savepoint: what was sent since then and failed is undone.
      if (answer.command === 'ROLLBACK') failed = undefined;
      return answer;
    } catch (error) {
      // Behind a statement that failed all are refused for that alone.
      throw (error as { code?: string }).code === transactionIsAborted ? ((await failure()) ?? error) : error;
    }
  };
  return {
    ask,
    async rows<Row extends QueryResultRow>(text: string, values?: readonly unknown[], plan?: string) {
      return (await ask<Row>(text, values, plan)).rows;
    },
    async send(text, values, plan) {
      const answered = () => undefined;
      lastSent = query(text, values, plan).then(answered, (error: unknown) => {
        failed ??= error;
      });
    },
    failure,
    close() {
      isOver = true;
    },
  };
}

function sqlOn(client: PoolClient, scope: Scope): SqlTransaction {
  const { rows, send } = statementsOn(client);
  return { client, scope, rows, send };
}

const keptTexts = new Map<string, string>();

/** The name of a plan, which is kept for one text only in the whole process: two of them would meet on some connection some day. */
export function keptPlan(name: string, text: string): string {
  const known = keptTexts.get(name);
  if (known === undefined) keptTexts.set(name, text);
  else if (known !== text) throw new Error(`the plan ${name} is kept for two texts`);
  return name;
}

const scopeIdPattern = /^[A-Za-z0-9_*-]{1,255}$/;

/** `begin` and the two settings in one round trip; ids are our own and checked, because a simple query has no parameters. */
function beginText(scope: Scope, begin = 'begin'): string {
  for (const id of [scope.tenantId, scope.environmentId]) {
    if (!scopeIdPattern.test(id)) throw new Error(`not an id of a scope: ${id}`);
  }
  return `${begin}; set local perennial.tenant_id = '${scope.tenantId}'; set local perennial.environment_id = '${scope.environmentId}'`;
}

const deadlockDetected = '40P01';

/** True for the error of a transaction that PostgreSQL rolled back because it and another waited for each other. */
export function isDeadlock(error: unknown): boolean {
  return error instanceof Error && (error as { code?: string }).code === deadlockDetected;
}

const uniqueViolation = '23505';

/** The name of the unique index an error is about, or null when it is something else. */
export function violatedUniqueIndex(error: unknown): string | null {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const { code, constraint } = cause as { code?: string; constraint?: string };
    if (code === uniqueViolation) return constraint ?? '';
  }
  return null;
}
