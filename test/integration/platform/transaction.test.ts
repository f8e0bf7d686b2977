import pg from 'pg';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { refusalIn, refuse } from '../../../billing/refusal.ts';
import { applicationRole } from '../../../db/prepare.ts';
import { inCopyTransaction, inSqlTransaction, inTransaction, violatedUniqueIndex } from '../../../db/transaction.ts';
import { testDatabase } from '../../support/database.ts';

const { database, scope, ownerUrl } = await testDatabase();

beforeAll(async () => {
  const owner = new pg.Client({ connectionString: ownerUrl });
  await owner.connect();
  await owner.query(
    `create table scrap (id int constraint scrap_once primary key); grant all on scrap to ${applicationRole}`,
  );
  await owner.end();
});
beforeEach(() => inSqlTransaction(database, scope, (tx) => tx.rows('delete from scrap')));

const insertText = 'insert into scrap (id) values ($1)';
const kept = () =>
  inSqlTransaction(database, scope, async (tx) => {
    const rows = await tx.rows<{ id: number }>('select id from scrap order by id');
    return rows.map(({ id }) => id);
  });
/** What a transaction failed with. */
const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

describe.each([
  ['named SQL', inSqlTransaction],
  ['one that can COPY', inCopyTransaction],
  ['the mapper', inTransaction],
])('in a transaction of %s', (_kind, within) => {
  test('what was sent is carried out in its order, and is kept with the rest', async () => {
    await within(database, scope, async (tx) => {
      await tx.send(insertText, [1]);
      await tx.send('update scrap set id = id + 10');
      expect(await tx.rows('select id from scrap')).toEqual([{ id: 11 }]);
      await tx.send(insertText, [12]);
    });
    expect(await kept()).toEqual([11, 12]);
  });

  test('a failure of what was sent last fails the transaction with its own cause, and nothing is kept', async () => {
    const failure = await failureOf(
      within(database, scope, async (tx) => {
        await tx.rows(insertText, [1]);
        await tx.send(insertText, [1]);
      }),
    );
    expect(violatedUniqueIndex(failure)).toBe('scrap_once');
    expect(await kept()).toEqual([]);
  });

  test('a failure of what was sent is the cause that a later statement tells', async () => {
    const failure = await failureOf(
      within(database, scope, async (tx) => {
        await tx.send(insertText, [1]);
        await tx.send(insertText, [1]);
        await tx.send(insertText, [2]);
        await tx.rows('select 1');
      }),
    );
    expect(violatedUniqueIndex(failure)).toBe('scrap_once');
    expect(await kept()).toEqual([]);
  });

  test('what is caught behind a savepoint is taken back alone', async () => {
    await within(database, scope, async (tx) => {
      await tx.send(insertText, [1]);
      await tx.rows('savepoint tried');
      const caught = await failureOf(
        (async () => {
          await tx.send(insertText, [2]);
          await tx.send(insertText, [1]);
          await tx.rows('release savepoint tried');
        })(),
      );
      expect(violatedUniqueIndex(caught)).toBe('scrap_once');
      await tx.rows('rollback to savepoint tried');
      await tx.send(insertText, [3]);
    });
    expect(await kept()).toEqual([1, 3]);
  });

  test('what failed behind a savepoint and was taken back is not the cause of a later failure', async () => {
    const failure = await failureOf(
      within(database, scope, async (tx) => {
        await tx.rows(insertText, [1]);
        await tx.rows('savepoint tried');
        await failureOf(tx.send(insertText, [1]));
        await tx.rows('rollback to savepoint tried');
        throw refuse('validation_error', 'for another reason');
      }),
    );
    expect(refusalIn(failure)?.message).toBe('for another reason');
  });

  test('a refusal takes back what was sent before it', async () => {
    const failure = await failureOf(
      within(database, scope, async (tx) => {
        await tx.send(insertText, [1]);
        throw refuse('validation_error', 'not like this');
      }),
    );
    expect(refusalIn(failure)?.message).toBe('not like this');
    expect(await kept()).toEqual([]);
  });
});

test('the same statement sent thrice at once on a new connection is prepared once', async () => {
  await inSqlTransaction(database, scope, async (tx) => {
    await Promise.all([1, 2, 3].map((id) => tx.send(insertText, [id], 'scrap-insert')));
  });
  expect(await kept()).toEqual([1, 2, 3]);
});

test('a failure that was swallowed does not pass for a commit', async () => {
  const failure = await failureOf(
    inSqlTransaction(database, scope, async (tx) => {
      await tx.rows(insertText, [1]);
      await failureOf(tx.rows(insertText, [1]));
    }),
  );
  expect(failure).toBeInstanceOf(Error);
  expect(await kept()).toEqual([]);
});

test('what goes on after the transaction failed cannot write any more', async () => {
  const after = Promise.withResolvers<unknown>();
  const failed = Promise.withResolvers<void>();
  const transaction = inSqlTransaction(database, scope, (tx) =>
    Promise.all([
      Promise.reject(refuse('validation_error', 'not like this')),
      failed.promise.then(() => tx.rows(insertText, [1])).then(after.resolve, after.resolve),
    ]),
  );
  expect(refusalIn(await failureOf(transaction))?.message).toBe('not like this');
  failed.resolve();
  expect(await after.promise).toBeInstanceOf(Error);
  expect(await kept()).toEqual([]);
});

test('a connection outlives what was refused on it', async () => {
  const backend = async () => {
    let pid = 0;
    const refused = inSqlTransaction(database, scope, async (tx) => {
      pid = (await tx.rows<{ pid: number }>('select pg_backend_pid() as pid'))[0]?.pid ?? 0;
      throw refuse('validation_error', 'not like this');
    });
    await failureOf(refused);
    return pid;
  };
  expect(await backend()).toBe(await backend());
});
