import { expect, test } from 'vitest';
import { newId } from '../../../../db/id.ts';
import { inSqlTransaction } from '../../../../db/transaction.ts';
import { readRoom } from '../../../../services/charging/proration-charged.ts';
import { testDatabase } from '../../../support/database.ts';

const base = await testDatabase();
const subscriptionId = newId('subs');

interface Settlement {
  /** Amount and the month of 2026 with which the time of it ends. */
  credits: [string, number][];
  charges: [string, number][];
  returned: string;
}

const month = (number: number) => new Date(Date.UTC(2026, number, 1)).toISOString();

/** What may go to a wallet at the beginning of a month, after settlements without an invoice. Nothing is kept. */
async function roomAt(at: number, settlements: readonly Settlement[]): Promise<string> {
  let room = '';
  const undone = new Error('undone');
  const looking = inSqlTransaction(base.database, base.scope, async (sql) => {
    for (const [number, { credits, charges, returned }] of settlements.entries()) {
      const lines = [
        ...credits.map(([amount, end]) => ({ side: 'credit', amount, end })),
        ...charges.map(([amount, end]) => ({ side: 'charge', amount, end })),
      ];
      for (const { side, amount, end } of lines) {
        await sql.rows(
          `insert into subscription_proration (id, tenant_id, environment_id, created_at, updated_at, subscription_id, subscription_line_item_id,
             change_key, action, side, currency, amount, uncapped_amount, period_start, period_end, effective_at, settlement, returned_amount)
           values ($1, $2, $3, now(), now(), $4, $1, $5, 'upgrade', $6, 'usd', $7, $7, $8, $9, $8, 'wallet_credit', $10)`,
          [
            ...[newId('pror'), base.scope.tenantId, base.scope.environmentId, subscriptionId, String(number)],
            ...[side, amount, month(0), month(end), returned],
          ],
        );
      }
    }
    room = await readRoom(sql, base.scope.environmentId, subscriptionId, month(at));
    throw undone;
  });
  await expect(looking).rejects.toBe(undone);
  return room;
}

// A year paid in advance is exchanged for one that ends later: 70 of it are netted, 30 went to the wallet.
const exchange: Settlement = { credits: [['100', 3]], charges: [['70', 6]], returned: '30' };

test('what went to the wallet is taken off as long as the time it was given for lasts', async () => {
  expect(await roomAt(2, [exchange])).toBe('-30');
});

test('afterwards what was netted is still paid for', async () => {
  expect(await roomAt(4, [exchange])).toBe('70');
  expect(await roomAt(7, [exchange])).toBe('0');
});

test('an exchange that came to nothing leaves what it charged', async () => {
  const even: Settlement = { credits: [['50', 3]], charges: [['50', 6]], returned: '0' };
  expect(await roomAt(2, [even])).toBe('0');
  expect(await roomAt(4, [even])).toBe('50');
});

test('what was given less of than credited is given for all of its times alike', async () => {
  const bounded: Settlement = {
    credits: [
      ['60', 3],
      ['40', 6],
    ],
    charges: [],
    returned: '50',
  };
  expect(await roomAt(2, [bounded])).toBe('-50');
  expect(await roomAt(4, [bounded])).toBe('-20');
  expect(await roomAt(4, [bounded, exchange])).toBe('50');
});
