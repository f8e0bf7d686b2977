import { expect, test } from 'vitest';
import { testDatabase } from '../../support/database.ts';
import { openEngine, usageEngines } from '../../support/usage-engines.ts';
import { outcome } from '../../vectors/adapter.ts';
import { usageAdapters } from '../../vectors/adapters/usage.ts';
import { matches } from '../../vectors/compare.ts';
import { readVectors } from '../../vectors/read.ts';
import { storeSource } from '../../vectors/store-source.ts';
import { askUsageOf } from '../../vectors/usage-source.ts';

const folder = new URL('../../vectors/cases', import.meta.url).pathname;
const vectors = Map.groupBy(
  readVectors(folder).filter(({ kind }) => kind in usageAdapters),
  ({ kind }) => kind,
);

const { database } = await testDatabase();
const engines = await Promise.all(usageEngines.map((engine) => openEngine(engine, database)));
const source = storeSource({ database, engines });

test('every kind that tells events has worked cases', () => {
  expect([...vectors.keys()].sort()).toEqual(Object.keys(usageAdapters).sort());
});

test.each(Object.keys(usageAdapters))(
  '%s: both engines give what the worked cases say, digit for digit',
  async (kind) => {
    const adapter = usageAdapters[kind]!;
    for (const { id, given, expect: expected } of vectors.get(kind) ?? []) {
      askUsageOf(null);
      const defined = await outcome(() => adapter(given));
      askUsageOf(source);
      const answered = await outcome(() => adapter(given));
      expect({ id, answered }).toEqual({ id, answered: defined });
      if (!matches(expected, answered)) expect({ id, ...(answered as object) }).toEqual(expected);
    }
  },
);
