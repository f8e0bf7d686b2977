import type { Database } from '../../db/orm.ts';
import { systemScope } from '../../db/scope.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { eventCatalogue } from '../../services/platform/event-catalogue/event-catalogue.ts';

type Row = { id: string; event_name: string; entity_type: string; payload: Record<string, unknown> };

/** Fails unless every outbound event of a test's database has a type of the catalogue, and carries what the catalogue says. */
export async function assertOutboxPayloads(database: Database): Promise<void> {
  const rows = await inSqlTransaction(database, systemScope, (tx) =>
    tx.rows<Row>(
      'select id, event_name, entity_type, payload from outbox_event where payload is not null order by position',
    ),
  );
  const problems = rows.flatMap((row) => {
    const problem = problemOf(row);
    return problem === null ? [] : [`${row.id} ${row.event_name}: ${problem}`];
  });
  if (problems.length > 0)
    throw new Error(`outbound events are not as catalogued:\n${problems.slice(0, 20).join('\n')}`);
}

/** Difference between an event and the catalogue; null for none. */
export function problemOf({ event_name: name, entity_type: entityType, payload }: Omit<Row, 'id'>): string | null {
  const entry = eventCatalogue.get(name);
  if (!entry) return 'is of no type of the catalogue';
  if (entry.family.entityType !== entityType) return `belongs to a ${entityType}, not a ${entry.family.entityType}`;
  const { event_type: type, ...content } = payload;
  if (type !== name) return `says that it is ${String(type)}`;
  const { error } = entry.family.payload.safeParse(content);
  return error ? error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ') : null;
}
