import { afterAll, expect } from 'vitest';
import type { Database } from '../../db/orm.ts';
import { startEngine, type TestedEngine, type UsageEngine, usageEngines } from './tested-engine.ts';

export { type TestedEngine, type UsageEngine, usageEngines };

/** Opens an engine for a test file. What another engine should have answered fails the file. */
export async function openEngine(engine: UsageEngine, database: Database): Promise<TestedEngine> {
  const tested = await startEngine(engine, database);
  afterAll(async () => {
    await tested.stop();
    // A meter with an expression is asked about when its values of earlier events have arrived.
    expect(tested.passedOn.filter((reason) => !/^the expression of meter \d+ is being fed$/.test(reason))).toEqual([]);
  });
  return tested;
}
