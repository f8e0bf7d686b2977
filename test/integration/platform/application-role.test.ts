import { expect, test } from 'vitest';
import { missing } from '../../../db/rows/record.ts';
import { systemScope } from '../../../db/scope.ts';
import { inReadTransaction, inSqlTransaction } from '../../../db/transaction.ts';
import { testDatabase } from '../../support/database.ts';

const { database, scope } = await testDatabase();

test('the application role is bound by row-level security', async () => {
  const { rows } = await database.pool.query<{ bypasses: boolean }>(
    'select rolsuper or rolbypassrls as bypasses from pg_roles where rolname = current_user',
  );
  expect(rows).toEqual([{ bypasses: false }]);
});

test('the application role owns no table', async () => {
  const { rows } = await database.pool.query('select from pg_class where relowner = current_user::regrole');
  expect(rows).toHaveLength(0);
});

test('a transaction sees the environment of its scope and no other', async () => {
  const visible = (environmentId: string) =>
    inSqlTransaction(database, { ...scope, environmentId }, (sql) => sql.rows('select from api_key'));
  expect(await visible(scope.environmentId)).toHaveLength(1);
  expect(await visible('env_other')).toHaveLength(0);
  expect(await visible(systemScope.environmentId)).toHaveLength(1);
});

test('a transaction without a scope sees nothing', async () => {
  const { rows } = await database.pool.query('select from api_key');
  expect(rows).toHaveLength(0);
});

test('what is only read sees its scope, cannot write, and leaves no connection in a state', async () => {
  const visible = (environmentId: string) =>
    inReadTransaction(database, { ...scope, environmentId }, async (sql) =>
      Promise.all([sql.rows('select from api_key'), sql.rows('select from api_key')]),
    );
  const refused = inReadTransaction(database, scope, async (sql) => sql.rows(`delete from api_key`));
  await expect(refused).rejects.toThrow('read-only transaction');
  // One after the other, more often than there are connections.
  for (let round = 0; round < 5; round += 1) {
    const notFound = inReadTransaction(database, scope, async () => {
      throw missing('plan', 'plan_x');
    });
    await expect(notFound).rejects.toThrow('plan plan_x was not found');
    const broken = inReadTransaction(database, scope, async (sql) => sql.rows('select from nowhere'));
    await expect(broken).rejects.toThrow('nowhere');
    const [own, other] = await Promise.all([visible(scope.environmentId), visible('env_other')]);
    expect(own.map((rows) => rows.length)).toEqual([1, 1]);
    expect(other.map((rows) => rows.length)).toEqual([0, 0]);
  }
  expect(await visible(systemScope.environmentId)).toEqual([[{}], [{}]]);
});
