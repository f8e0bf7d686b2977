import type { Client } from '@temporalio/client';
import type { Database } from '../../db/orm.ts';
import { systemScope } from '../../db/scope.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { environmentsWithDueMarks } from '../../metering/postgres/due-mark.ts';
import { lateTopUps } from '../../services/wallet/auto-topup/auto-topup-watch.ts';
import { signalUsageWatch } from '../alert/usage-watch.ts';
import { tellToLook } from '../wallet/top-up-rule.ts';

/** A step that is so late was not told of: one that was takes a second. */
const lateMs = 60_000;
const toldAtOnce = 200;

/**
 * Tells again where a signal may have been lost between a commit and Temporal: the watches of usage with marks that are due, and wallets
 * in real time whose automatic top-up should have gone on a minute ago. Answers how many wallets. Those on test clocks are told by their
 * clock, which does not go on before.
 */
export async function tellLate({ database, temporal }: { database: Database; temporal: Client }): Promise<number> {
  const now = new Date();
  const before = new Date(now.getTime() - lateMs).toISOString();
  const { marked, late } = await inSqlTransaction(database, systemScope, async (tx) => ({
    marked: await environmentsWithDueMarks(tx),
    late: await lateTopUps(tx, before, toldAtOnce),
  }));
  for (const owner of marked) await signalUsageWatch(temporal, owner);
  for (const wallet of late) await tellToLook(temporal, wallet, wallet, now.toISOString());
  return late.length;
}
