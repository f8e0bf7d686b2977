import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inSqlTransaction } from '../../../../db/transaction.ts';
import { parseEventCursor, selectEventPage } from '../../../../metering/event-page.ts';
import { openPostgresUsageStore } from '../../../../metering/postgres/usage-store.ts';
import { utcInstant } from '../../../../metering/timestamp.ts';
import { testDatabase } from '../../../support/database.ts';
import { append } from '../../../support/metering.ts';

const { database, scope } = await testDatabase();
const store = openPostgresUsageStore(database);
const range = { from: '2026-01-01T00:00:00.000000Z', to: '2026-02-01T00:00:00.000000Z' };
const listing = { ...range, offset: 0, sort: 'timestamp', order: 'desc' } as const;

// Few instants, so that many events share one and the id decides; ids whose order differs between a locale and code points.
const position = fc.record({
  timestamp: fc.integer({ min: 0, max: 4 }).map((n) => utcInstant(`2026-01-15T00:00:00.00000${n}Z`) ?? ''),
  id: fc.constantFrom('a', 'B', 'b', '_', 'a10', 'a2', 'é', 'z', 'Z', '😀', '\uffee'),
});

test('a page of the store equals the page of the same events in memory', async () => {
  const property = fc.asyncProperty(
    fc.uniqueArray(position, { selector: ({ id }) => id, maxLength: 11 }),
    fc.integer({ min: 1, max: 4 }),
    fc.constantFrom('before', 'after', 'neither'),
    fc.record({ nanoseconds: fc.integer({ min: 0, max: 9 }), id: fc.constantFrom('a', 'b', 'z') }),
    async (positions, pageSize, direction, at) => {
      const eventName = randomUUID();
      // An id belongs to one event of an environment: the run's own prefix keeps ids of runs apart and their order.
      const rows = positions.map(({ timestamp, id }) => ({ timestamp, id: `${eventName}${id}` }));
      await append(
        store,
        scope,
        rows.map((row) => ({ event_name: eventName, event_id: row.id, timestamp: row.timestamp })),
      );
      const nanoseconds = BigInt(Date.parse('2026-01-15T00:00:00Z')) * 1_000_000n + BigInt(at.nanoseconds) * 500n;
      const cursor = parseEventCursor(`${nanoseconds}::${eventName}${at.id}`, 'cursor');
      const query = { pageSize, ...(direction === 'neither' ? {} : { [direction]: cursor }) };
      const page = await inSqlTransaction(database, scope, (tx) =>
        store.events(tx, scope, { ...listing, ...query, eventName }),
      );
      const expected = selectEventPage(rows, query);
      expect(page.events.map(({ id, timestamp }) => ({ timestamp, id }))).toEqual(expected.rows);
      expect([page.hasMore, page.totalCount]).toEqual([expected.hasMore, rows.length]);
    },
  );
  await fc.assert(property, { numRuns: 60 });
});
