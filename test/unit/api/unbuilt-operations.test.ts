import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { unbuiltOperations } from '../../../api/platform/unbuilt.route.ts';

const read = (path: string) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
const place = (method: string, path: string) => `${method.toUpperCase()} ${path.replaceAll(/\{[^}]+\}/g, '{}')}`;

const documented: Record<string, object> = read('../../../docs/openapi.json').paths;
const built = new Set(
  Object.entries(documented).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => place(method, path.replace(/^\/v1/, ''))),
  ),
);

test('no operation that is built is called unbuilt', () => {
  expect(unbuiltOperations.filter(([method, path]) => built.has(place(method, path)))).toEqual([]);
});

const specification = '../../../../shared/spec/operations.json';
const isAtHand = existsSync(new URL(specification, import.meta.url));

test.runIf(isAtHand)('every operation for callers with a key is built or called unbuilt', () => {
  const known = new Set([...built, ...unbuiltOperations.map(([method, path]) => place(method, path))]);
  const withoutKey = /^\/(auth\/|webhooks\/\w+\/\{|health|customer\/portal)/;
  const { operations }: { operations: { method: string; path: string }[] } = {
    operations: [read(specification)].flat(),
  };
  const missing = operations
    .flatMap((each) => ('operations' in each ? (each.operations as typeof operations) : each))
    .filter(({ method, path }) => !withoutKey.test(path) && !known.has(place(method, path)));
  expect(missing).toEqual([]);
});
