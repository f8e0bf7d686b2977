import type { Sql } from '../../../db/transaction.ts';

/**
 * Notes that the transaction itself has appended or voided events: no snapshot tells these from those that are changed after a
 * reading, so that what was read cannot be read again as of then.
 */
export async function noteOwnEvents(sql: Sql): Promise<void> {
  await sql.rows(`select set_config('perennial.own_events', 'changed', true)`);
}

/** Whether all events are those of transactions that are over. */
export const hasNoOwnEvents = `coalesce(current_setting('perennial.own_events', true), '') = ''`;
