import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { WorkflowHandle } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { makePlan } from '../../bench/account.ts';
import { type BenchPlatform, withBenchPlatform } from '../../bench/platform.ts';
import { poll } from '../../dev/processes.ts';
import { historiesDirectory, type RecordedHistory, shapeOf, withoutMachine } from './history.ts';
import { personal } from './personal.ts';
import { scenarios } from './scenarios.ts';

/**
 * `node test/replay/record.ts [scenario …]` runs the scenarios on a platform of their own and writes what their workflows
 * did to test/replay/histories: one file for each shape that no earlier file has. Without names it begins anew.
 */
const { positionals: names } = parseArgs({ allowPositionals: true });
const unknown = names.find((name) => !(name in scenarios));
if (unknown) throw new Error(`there is no scenario ${unknown}; there are ${Object.keys(scenarios).join(', ')}`);

await withBenchPlatform(async (platform) => {
  await platform.startWorkers();
  const plan = await makePlan(platform.api, { fee: personal.fee, perCall: personal.perCall, eventName: 'call' });
  const seen = new Set<string>();
  const taken = new Set<string>();
  if (names.length === 0) clear();
  for (const [name, play] of Object.entries(scenarios)) {
    if (names.length > 0 && !names.includes(name)) continue;
    const began = performance.now();
    await play({ platform, ...plan });
    const written = await record(platform, name, seen, taken);
    console.log(`${name}: ${written} histories, ${((performance.now() - began) / 1000).toFixed(1)} s`);
  }
  await platform.checkInvariants();
});
process.exit(0);

function clear(): void {
  for (const file of readdirSync(historiesDirectory)) rmSync(join(historiesDirectory, file));
}

/** Writes the runs of workflows that were started since the last scenario. */
async function record(
  { temporal }: BenchPlatform,
  scenario: string,
  shapes: Set<string>,
  taken: Set<string>,
): Promise<number> {
  const counts = new Map<string, number>();
  for await (const { workflowId, runId, type } of temporal.workflow.list()) {
    if (taken.has(runId)) continue;
    taken.add(runId);
    const recorded = await historyAtRest(temporal.workflow.getHandle(workflowId, runId));
    const shape = shapeOf(recorded);
    if (shapes.has(shape)) continue;
    shapes.add(shape);
    const number = (counts.get(type) ?? 0) + 1;
    counts.set(type, number);
    const lines = recorded.events.map((event) => JSON.stringify(event)).join(',\n');
    writeFileSync(join(historiesDirectory, `${scenario}.${type}.${number}.json`), `{"events":[\n${lines}\n]}\n`);
  }
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

/** The history of a run once no task of it is under way. */
async function historyAtRest(run: WorkflowHandle): Promise<RecordedHistory> {
  const history = await poll(async () => {
    const { events } = JSON.parse(historyToJSON(await run.fetchHistory())) as RecordedHistory;
    return /WORKFLOW_(TASK_SCHEDULED|TASK_STARTED|EXECUTION_STARTED|EXECUTION_SIGNALED)$/.test(
      events.at(-1)?.eventType ?? '',
    )
      ? undefined
      : { events };
  }, 20_000);
  if (!history) throw new Error(`${run.workflowId} does not come to rest`);
  return withoutMachine(history);
}
