import { expect, test } from 'vitest';
import { systemScope } from '../../db/scope.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { testDatabase } from '../support/database.ts';

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
