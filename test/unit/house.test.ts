import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { files, folderOf, importsOf, isPath, packageOf, repositoryFiles } from '../support/source-imports.ts';

// Rooms of each layer, from what others stand on to what stands on others: a room imports those before it. Files beside the rooms are
// what all of them share, or list them all.
const orders: Record<string, string[]> = {
  billing: [
    ...['money', 'time', 'allowance', 'price', 'commitment', 'wallet', 'line', 'subscription', 'payment', 'invoice'],
    ...['alert', 'explanation'],
  ],
  services: [
    ...['platform', 'lifecycle', 'integration', 'alert', 'ledger', 'customer', 'catalogue', 'usage'],
    ...['charging', 'collection', 'topup', 'refund', 'invoice', 'subscription', 'wallet'],
    ...['payment', 'evaluation', 'event', 'across'],
  ],
  workflows: [
    ...['platform', 'customer', 'catalogue', 'usage', 'subscription', 'invoice', 'wallet', 'payment', 'alert'],
    ...['integration', 'event', 'check'],
  ],
  activities: [
    ...[
      'workflow-worker',
      'platform',
      'customer',
      'catalogue',
      'usage',
      'integration',
      'invoice',
      'payment',
      'subscription',
    ],
    ...['alert', 'wallet', 'event', 'check'],
  ],
};

const roomOf = (file: string) => (file.split('/').length > 2 ? (file.split('/')[1] ?? '') : '');
const isProduct = (file: string) => !/^(test|bench|dev)\//.test(file);
const product = files.filter(isProduct);

/** Imports of a layer that go from one room to another, as `room → room` with the file that has them. */
function arrowsOf(layer: string): { arrow: string; from: string; to: string; file: string; target: string }[] {
  return product
    .filter((file) => folderOf(file) === layer && roomOf(file))
    .flatMap(importsOf)
    .filter(({ target }) => isPath(target) && folderOf(target) === layer && roomOf(target))
    .map(({ file, target }) => ({ from: roomOf(file), to: roomOf(target), file, target }))
    .filter(({ from, to }) => from !== to)
    .map((found) => ({ ...found, arrow: `${layer}: ${found.from} → ${found.to}` }));
}

describe.each(Object.entries(orders))('%s', (layer, order) => {
  const backwards = arrowsOf(layer).filter(({ from, to }) => order.indexOf(to) > order.indexOf(from));

  test('has no room but those of the order', () => {
    const rooms = new Set(product.filter((file) => folderOf(file) === layer).map(roomOf));
    expect([...rooms].filter((room) => room && !order.includes(room))).toEqual([]);
  });

  test('has no room that imports one after it', () => {
    expect(backwards.map(({ file, target, arrow }) => `${file} imports ${target} (${arrow})`)).toEqual([]);
  });
});

/** The sets of nodes that reach each other, by Tarjan's algorithm; a node alone is none. */
function cyclesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];
  const visit = (node: string) => {
    const own = index.size;
    index.set(node, own);
    low.set(node, own);
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(node, Math.min(low.get(node) ?? own, low.get(next) ?? own));
    }
    if (low.get(node) !== own) return;
    const members = stack.splice(stack.indexOf(node));
    if (members.length > 1) cycles.push(members.sort());
  };
  for (const node of graph.keys()) if (!index.has(node)) visit(node);
  return cycles;
}

describe('files', () => {
  test('do not import each other in a circle, types included', () => {
    const all = files.filter((file) => !file.startsWith('test/'));
    const graph = new Map(all.map((file) => [file, importsOf(file).map(({ target }) => target)]));
    expect(graph.size).toBeGreaterThan(1_000);
    expect(cyclesOf(graph)).toEqual([]);
  });

  test('that do are noticed', () => {
    const graph = new Map(Object.entries({ a: ['b'], b: ['c'], c: ['b', 'd'], d: [] }));
    expect(cyclesOf(graph)).toEqual([['b', 'c']]);
  });

  test('lie in rooms of 40 at most', () => {
    const rooms = Map.groupBy(repositoryFiles, (file) => file.split('/').slice(0, -1).join('/'));
    // Records of what was released or has happened, and texts of others, are in the order of their names.
    const large = [...rooms].filter(
      ([room, { length }]) => length > 40 && !/migrations|histories|published/.test(room),
    );
    expect(large.map(([room, { length }]) => `${room}: ${length}`)).toEqual([]);
  });
});

describe('packages', () => {
  // The guarded lane stands on private files and says so; what reads histories or the published client stands on one of each.
  const lane = /^activities\/workflow-worker\//;
  const ofTests = ['@temporalio/common/lib/proto-utils.js', '@flexprice/sdk/lib/http.js', 'ajv/dist/2020.js'];

  test('are entered by their public doors', () => {
    const deep = files
      .filter((file) => !lane.test(file))
      .flatMap(importsOf)
      .filter(({ specifier }) => !specifier.startsWith('.') && specifier !== packageOf(specifier))
      .filter(({ file, specifier }) => !(file.startsWith('test/') && ofTests.includes(specifier)))
      .filter(({ specifier }) => !isExported(specifier));
    expect(deep.map(({ file, specifier }) => `${file} imports ${specifier}`)).toEqual([]);
    expect(isExported('vitest/config')).toBe(true);
    expect(isExported('@temporalio/worker/lib/worker-options.js')).toBe(false);
  });
});

/** True where a package offers a file of its own under this name. */
function isExported(specifier: string): boolean {
  const name = packageOf(specifier);
  const manifest = JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')) as { exports?: object };
  return Object.keys(manifest.exports ?? {}).includes(`.${specifier.slice(name.length)}`);
}

describe('the image', () => {
  const copied = Array.from(readFileSync('Dockerfile', 'utf8').matchAll(/^COPY (?!--from)(.+) \S+$/gm), ([, names]) =>
    (names ?? '').split(' '),
  ).flat();
  const letThrough = readFileSync('.dockerignore', 'utf8').split('\n');
  const isCopied = (file: string) => copied.some((name) => file === name || file.startsWith(`${name}/`));

  test('holds every file that a file of it imports', () => {
    const targets = files
      .filter(isCopied)
      .flatMap(importsOf)
      .map(({ target }) => target);
    expect([...new Set(targets)].filter((target) => isPath(target) && !isCopied(target))).toEqual([]);
  });

  test('is sent every file that it copies', () => {
    expect(copied.filter((name) => !letThrough.includes(`!${name}`))).toEqual([]);
  });
});
