import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { StartupProblem } from '../../dev/processes.ts';
import { converse, type StepResult } from './conversation.ts';
import { type Language, languages } from './page.ts';
import { startReceiver } from './receiver.ts';
import { receiveThroughFaults } from './under-faults.ts';

/**
 * `npm run test:receivers [-- --deliveries 10000 --seed 1]`: the receivers of docs/webhooks.md, as they stand there, each with its own language's
 * library of Standard Webhooks, hear right and wrong deliveries; with a number of deliveries those in Python and Go then verify so many events
 * each of an installation whose processes are killed. Ends with 1 when a check failed, or when a language is not on this machine.
 */
const { values } = parseArgs({
  options: { deliveries: { type: 'string', default: '0' }, seed: { type: 'string', default: '1' } },
});
const [deliveries, seed] = [wholeNumber('deliveries', values.deliveries), wholeNumber('seed', values.seed)];
const total = { passed: 0, failed: 0 };
for (const language of languages) await record(language, () => conversationIn(language));
if (deliveries > 0) {
  const say = (line: string) => console.log(`  ${line}`);
  await record('under faults', () => receiveThroughFaults({ deliveries, seed, say }));
}
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;

/** Counts the results of a part; one that cannot run on this machine has failed. */
async function record(part: string, run: () => Promise<StepResult[]>): Promise<void> {
  try {
    const results = await run();
    for (const { name, problem } of results) {
      total[problem === '' ? 'passed' : 'failed'] += 1;
      console.log(problem === '' ? `passed: ${name}` : `FAILED: ${name}: ${problem}`);
    }
    if (results.length === 0) throw new StartupProblem(`${part}: nothing was checked`);
  } catch (error) {
    if (!(error instanceof StartupProblem)) throw error;
    total.failed += 1;
    console.error(`FAILED: ${error.message}`);
  }
}

async function conversationIn(language: Language): Promise<StepResult[]> {
  const directory = mkdtempSync(join(tmpdir(), 'perennial-receiver-'));
  try {
    const receiver = await startReceiver(language, directory);
    try {
      const results = await converse(receiver);
      return results.map(({ name, problem }) => ({ name: `${language}: ${name}`, problem }));
    } finally {
      await receiver.stop();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function wholeNumber(name: string, text: string): number {
  if (/^\d{1,7}$/.test(text)) return Number(text);
  console.error(`--${name} must be a whole number`);
  process.exit(2);
}
