import { isDeepStrictEqual, parseArgs } from 'node:util';
import { usageEngines } from '../support/tested-engine.ts';
import { outcome } from './adapter.ts';
import { adapters } from './adapters/index.ts';
import { matches } from './compare.ts';
import { answerBy, endRun } from './installation.ts';
import { readVectors, type Vector } from './read.ts';

const { positionals, values } = parseArgs({ allowPositionals: true, options: { engine: { type: 'string' } } });
const [path] = positionals;
const engine = usageEngines.find((name) => name === values.engine) ?? null;
if (path === undefined || (values.engine !== undefined && engine === null)) {
  console.error(`usage: npm run vectors -- [--engine ${usageEngines.join('|')}] <file or folder of vectors>`);
  process.exit(1);
}

/** With an engine, what vectors ask about events is answered by it; without one, by the definition in memory. */
const answers = engine && (await answerBy(engine));
const answered = new Map<string, number>();
let passed = 0;
let failed = 0;
const skipped = new Map<string, number>();

for (const vector of readVectors(path)) {
  const adapter = adapters[vector.kind];
  if (!adapter) {
    skip(vector.kind);
    continue;
  }
  const askedBefore = answers?.asked ?? 0;
  const actual = await run(() => adapter(vector.given));
  if (answers && answers.asked > askedBefore) answered.set(vector.kind, (answered.get(vector.kind) ?? 0) + 1);
  const missing = notImplemented(actual);
  if (missing !== null) {
    skip(`${vector.kind} with ${missing}`);
    continue;
  }
  if (matches(vector.expect, actual)) passed += 1;
  else {
    failed += 1;
    report(vector, actual);
  }
}

await endRun();

for (const [kind, count] of [...answered].sort()) console.log(`${kind} (${count}): answered by ${engine}`);
for (const [kind, count] of [...skipped].sort()) console.log(`skipped ${kind} (${count}): not built yet`);
const skippedCount = [...skipped.values()].reduce((all, count) => all + count, 0);
console.log(`${passed} passed, ${failed} failed, ${skippedCount} skipped`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

function skip(name: string): void {
  skipped.set(name, (skipped.get(name) ?? 0) + 1);
}

/** The fields that production refuses as not built yet (501); null for every other answer. */
function notImplemented(actual: unknown): string | null {
  const { error, fields } = (actual ?? {}) as { error?: { code?: string }; fields?: Record<string, unknown> };
  return error?.code === 'not_implemented' ? Object.keys(fields ?? {}).join(', ') : null;
}

async function run(call: () => unknown): Promise<unknown> {
  try {
    return await outcome(call);
  } catch (thrown) {
    return { thrown: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown) };
  }
}

/** The failing id with the members that differ. */
function report(vector: Vector, actual: unknown): void {
  console.log(`FAILED ${vector.id} (${vector.kind})`);
  const expected = vector.expect as Record<string, unknown>;
  const given = actual as Record<string, unknown> | null;
  const members = typeof expected === 'object' && expected !== null ? Object.keys(expected) : [];
  const names = members.filter(
    (name) => !matches(expected[name], given?.[name]) || isDeepStrictEqual(given, undefined),
  );
  for (const name of names.length > 0 ? names : ['']) {
    console.log(`  ${name} expected ${JSON.stringify(name ? expected[name] : expected)}`);
    console.log(`  ${name} actual   ${JSON.stringify(name ? given?.[name] : given)}`);
  }
  if (given && 'thrown' in given) console.log(`  ${String(given.thrown)}`);
}
