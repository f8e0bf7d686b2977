import { expect, test } from 'vitest';
import { inSqlTransaction, inTransaction, type SqlTransaction } from '../../../db/transaction.ts';
import { dueMarks } from '../../../metering/postgres/due-mark.ts';
import { createCustomer } from '../../../services/customer/customer.ts';
import { asSuperuser, testDatabase } from '../../support/database.ts';

const base = await testDatabase({ plansAsInstalled: true });
const { database, scope } = base;
const [all, marked] = [300, 60];

async function customersRead(tx: SqlTransaction): Promise<number> {
  const [row] = await tx.rows<{ read: string }>(
    `select coalesce(idx_tup_fetch, 0) + seq_tup_read as read from pg_stat_xact_user_tables where relname = 'customer'`,
  );
  return Number(row?.read);
}

test('marked customers are found each by itself, however many customers there are', async () => {
  const ids = await inTransaction(database, scope, async (tx) => {
    await tx.rows('select usage.watch_environment($1)', [scope.environmentId]);
    const made: string[] = [];
    for (let index = 0; index < all; index += 1) {
      made.push((await createCustomer(tx, { externalId: `customer-${index}`, name: 'Somebody' })).id);
    }
    await tx.em.flush();
    await tx.rows('select usage.mark_customers($1, $2)', [scope.environmentId, made.slice(0, marked)]);
    return made.slice(0, marked);
  });
  await asSuperuser(base.ownerUrl, 'analyze');
  await inSqlTransaction(database, scope, async (tx) => {
    // Small tables are read whole otherwise, which would hide what grows with them.
    for (const way of ['seqscan', 'hashjoin', 'mergejoin']) await tx.rows(`set local enable_${way} = off`);
    const before = await customersRead(tx);
    const limits = { urgent: marked, routine: marked };
    const found = await dueMarks(tx, scope, { evaluator: 'usage', time: 'now', limits });
    expect(new Set(found.map((mark) => mark.customerId))).toEqual(new Set(ids));
    expect((await customersRead(tx)) - before).toBeLessThanOrEqual(2 * marked);
  });
});
