import { isDeepStrictEqual } from 'node:util';
import { outcome } from './adapter.ts';
import { adapters } from './adapters/index.ts';
import { matches } from './compare.ts';
import { readVectors, type Vector } from './read.ts';

const path = process.argv[2];
if (path === undefined) {
  console.error('usage: npm run vectors -- <file or folder of vectors>');
  process.exit(1);
}

let passed = 0;
let failed = 0;
const skipped = new Map<string, number>();

for (const vector of readVectors(path)) {
  const adapter = adapters[vector.kind];
  if (!adapter) {
    skipped.set(vector.kind, (skipped.get(vector.kind) ?? 0) + 1);
    continue;
  }
  const actual = await run(() => adapter(vector.given));
  if (matches(vector.expect, actual)) passed += 1;
  else {
    failed += 1;
    report(vector, actual);
  }
}

for (const [kind, count] of [...skipped].sort()) console.log(`skipped ${kind} (${count}): not built yet`);
const skippedCount = [...skipped.values()].reduce((all, count) => all + count, 0);
console.log(`${passed} passed, ${failed} failed, ${skippedCount} skipped`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

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
