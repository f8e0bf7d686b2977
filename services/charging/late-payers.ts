import type { Scope } from '../../db/scope.ts';
import { isDeadlock, type Sql, violatedUniqueIndex } from '../../db/transaction.ts';
import { lockSubscriptions } from './subscription-row.ts';
import { refreshAgendas } from './subscription-snapshot.ts';

const mostTries = 5;

/**
 * Writes the agendas of subscriptions with unpaid invoices, or paused for one, after the settings changed that say what follows
 * from that; answers their ids, so that they are told after the commit.
 */
export async function refreshLatePayers(sql: Sql, scope: Scope): Promise<string[]> {
  const rows = await sql.rows<{ id: string }>(
    `select s.id from subscription s where s.environment_id = $1 and s.status = 'published'
       and s.subscription_status in ('active', 'paused') and exists (
         select from invoice i where i.environment_id = s.environment_id and i.subscription_id = s.id and i.invoice_type = 'SUBSCRIPTION'
           and i.invoice_status = 'FINALIZED' and i.payment_status in ('PENDING', 'FAILED') and i.amount_remaining > 0)
     order by s.id`,
    [scope.environmentId],
  );
  const ids = rows.map(({ id }) => id);
  // Steps lock parents before their children, this locks by id. After a deadlock the step goes on, and the locks are taken again.
  await refreshLocked(sql, scope, ids, (error) => isDeadlock(error) || isAgendaConflict(error));
  return ids;
}

/**
 * Writes the agendas of subscriptions from outside their workflows, under their locks. A workflow that writes its own at this moment is
 * waited for, and what it wrote is read again. After an error that `isPassing` accepts the locks are given back and taken again.
 */
export async function refreshLocked(
  sql: Sql,
  scope: Scope,
  ids: readonly string[],
  isPassing = isAgendaConflict,
): Promise<void> {
  if (ids.length === 0) return;
  for (let tries = 1; ; tries += 1) {
    await sql.rows('savepoint agendas');
    try {
      const locked = await lockSubscriptions(sql, scope.environmentId, ids);
      await refreshAgendas(sql, scope.environmentId, [...locked.values()]);
      await sql.rows('release savepoint agendas');
      return;
    } catch (error) {
      if (tries === mostTries || !isPassing(error)) throw error;
      await sql.rows('rollback to savepoint agendas');
    }
  }
}

function isAgendaConflict(error: unknown): boolean {
  return violatedUniqueIndex(error)?.startsWith('agenda_entry') === true;
}
