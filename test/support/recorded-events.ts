import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderInvoices } from '../../api/event/outbound-event-payload.ts';
import { newId } from '../../db/id.ts';
import type { Database } from '../../db/orm.ts';
import type { Scope } from '../../db/scope.ts';
import { inTransaction } from '../../db/transaction.ts';
import { eventCatalogue } from '../../services/platform/event-catalogue/event-catalogue.ts';

const folder = process.env.RECORD_EXAMPLES;
const mostOfType = 5;

/**
 * Keeps events that a test file left behind, as their receivers see them, when `RECORD_EXAMPLES` names a folder; `npm run examples -- <folder>`
 * chooses one of each type for the API description.
 */
export async function recordEvents(database: Database, scope: Scope): Promise<void> {
  if (folder === undefined) return;
  const bodies = await inTransaction(database, scope, async (tx) => {
    const rows = await tx.rows<{ event_name: string; entity_id: string; payload: Record<string, unknown> }>(
      `select event_name, entity_id, payload from (
         select *, row_number() over (partition by event_name order by position) as nth from outbox_event where environment_id = $1) e
       where nth <= $2`,
      [scope.environmentId, mostOfType],
    );
    const whole = rows.filter(({ event_name: name }) => eventCatalogue.get(name)?.family.isShownWhole);
    const invoices = await renderInvoices(tx, [...new Set(whole.map(({ entity_id: id }) => id))]);
    return rows.map((row) =>
      whole.includes(row) ? { event_type: row.event_name, invoice: invoices.get(row.entity_id) } : row.payload,
    );
  });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${newId('events')}.json`), JSON.stringify(bodies));
}
