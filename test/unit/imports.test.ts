import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { bundleWorkflows } from '../../activities/workflow-bundle.ts';
import { files, folderOf, type Import, importsOf, isPath, sources } from '../support/source-imports.ts';

/** What the files of a folder may import. Paths are of this repository; `types` may only be imported as types. */
interface FolderRule {
  paths: RegExp[];
  types?: RegExp[];
  packages: RegExp[];
}

const messages = /^workflows\/([\w-]+\/)*[\w-]+\.messages\.ts$/;
const node = /^node:/;

// The table of docs/architecture.md. A folder that is not listed (dev, bench, test) may import everything.
const rules: Record<string, FolderRule> = {
  lifecycles: { paths: [/^lifecycles\//], packages: [] },
  billing: {
    paths: [/^(billing|lifecycles)\//],
    packages: [/^decimal\.js$/, /^temporal-polyfill$/, /^currency-codes$/],
  },
  db: {
    paths: [/^(db|billing|lifecycles)\//, /^database-url\.ts$/],
    packages: [/^@mikro-orm\//, /^pg$/, /^kysely$/, /^ulid$/, node],
  },
  services: { paths: [/^(services|db|billing|lifecycles)\//], packages: [/^@mikro-orm\//, /^pg$/, /^kysely$/, node] },
  metering: {
    paths: [/^(metering|services|db|billing)\//],
    packages: [/^pg$/, /^pg-copy-streams$/, /^@clickhouse\/client$/, /^decimal\.js$/, /^jsep$/, node],
  },
  integrations: {
    paths: [/^(integrations|billing)\//, /^database-url\.ts$/],
    packages: [/^(?!@temporalio|@mikro-orm|fastify)/],
  },
  workflows: {
    paths: [/^(workflows|lifecycles)\//, /^billing\/refusal\.ts$/],
    types: [/^billing\//, /^activities\//],
    packages: [/^@temporalio\/(workflow|common)$/],
  },
  activities: {
    paths: [/^(activities|billing|lifecycles|db|services|metering|integrations)\//, messages],
    packages: [/^@temporalio\/(activity|worker|client|common)$/, /^(pg|pino|prom-client|close-with-grace)$/, node],
  },
  api: {
    paths: [/^(api|billing|lifecycles|db|services|metering|integrations)\//, messages, /^validation-text\.ts$/],
    types: [/^workflows\//, /^config\.ts$/],
    packages: [
      /^(fastify|zod|pino|prom-client|close-with-grace|ulid|yaml|secure-json-parse|fastest-levenshtein|rate-limiter-flexible)(-plugin)?$/,
      /^@fastify\//,
      /^@scalar\//,
      /^@temporalio\/(client|common)$/,
      node,
    ],
  },
  cli: { paths: [/^cli\//], packages: [/^(commander|yaml)$/, node] },
  web: { paths: [/^web\//], packages: [/^(?!@temporalio|@mikro-orm|pg$|fastify)/] },
};

// Imports of single files and rooms beyond their folder's rule.
const exceptions: Record<string, RegExp[]> = {
  'billing/refusal.ts': [/^@temporalio\/common$/],
  'api/invoice/document/document-token.ts': [/^jose$/],
  'api/customer/portal-token.ts': [/^jose$/],
  // The catalogue of outbound events says in zod what they carry, once: emitters take their types from it, the API its description.
  'services/platform/event-catalogue': [/^zod$/],
  'api/server.ts': [/^(config|heap)\.ts$/],
  'api/temporal.ts': [/^temporal-connection\.ts$/],
};

const productFiles = files.filter((file) => folderOf(file) in rules);

function isAllowed({ file, target, typeOnly }: Omit<Import, 'specifier'>): boolean {
  const rule = rules[folderOf(file)];
  if (!rule) return true;
  const allowed = [
    ...(isPath(target) ? rule.paths : rule.packages),
    ...(exceptions[file] ?? exceptions[file.slice(0, file.lastIndexOf('/'))] ?? []),
    ...(typeOnly ? (rule.types ?? []) : []),
  ];
  return allowed.some((pattern) => pattern.test(target));
}

describe('imports', () => {
  test.each(Object.keys(rules))('%s imports only what its place in the architecture allows', (folder) => {
    const breaches = productFiles
      .filter((file) => folderOf(file) === folder)
      .flatMap(importsOf)
      .filter((found) => !isAllowed(found))
      .map(({ file, target, typeOnly }) => `${file} imports ${target}${typeOnly ? ' (type)' : ''}`);
    expect(breaches).toEqual([]);
  });

  test('a breach is noticed', () => {
    const breach = { file: 'workflows/invoice/invoice.ts', typeOnly: false };
    expect(isAllowed({ ...breach, target: 'db/orm.ts' })).toBe(false);
    expect(isAllowed({ ...breach, target: 'activities/invoice/invoice.ts' })).toBe(false);
    expect(isAllowed({ ...breach, target: 'activities/invoice/invoice.ts', typeOnly: true })).toBe(true);
    expect(isAllowed({ ...breach, target: 'zod' })).toBe(false);
    expect(isAllowed({ file: 'billing/money/money.ts', target: 'node:fs', typeOnly: false })).toBe(false);
    expect(
      isAllowed({ file: 'api/catalogue/plan.route.ts', target: 'activities/invoice/invoice.ts', typeOnly: true }),
    ).toBe(false);
  });

  test('only indexes re-export, and no file is called after nothing', () => {
    const barrels = productFiles.filter(
      (file) => file.endsWith('/index.ts') && !/^(workflows|activities)\/index\.ts$/.test(file),
    );
    expect(barrels).toEqual([]);
    expect(productFiles.filter((file) => /(utils?|helpers?|common|manager)\.ts$/.test(file))).toEqual([]);
  });
});

interface Locked {
  optionalDependencies?: Record<string, string>;
}

describe('packages', () => {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Record<string, Record<string, string>>;
  const pinned = { ...manifest.dependencies, ...manifest.devDependencies };

  test('every imported package is pinned exactly', () => {
    const imported = new Set(files.flatMap(importsOf).map(({ target }) => target));
    const packages = [...imported].filter((target) => !isPath(target) && !target.startsWith('node:'));
    expect(packages.filter((name) => !(name in pinned))).toEqual([]);
    expect(Object.entries(pinned).filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  });

  test('the lock file holds the packages of every platform, without which npm ci refuses it', () => {
    const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Locked> };
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !packages[`${path}/node_modules/${name}`] && !packages[`node_modules/${name}`],
      ),
    );
    expect(missing).toEqual([]);
  });

  test('an install without the packages of tests starts, runs the demo and serves', () => {
    const ofTests = Object.keys(manifest.devDependencies ?? {});
    const naming = files
      .filter((file) => !/^(test|bench)\/|^vitest\.config/.test(file))
      .flatMap((file) => ofTests.filter((name) => sources.get(file)?.includes(`'${name}`)).map((name) => [file, name]));
    expect(naming).toEqual([]);
  });

  test('there is one driver of PostgreSQL: another version of it may check certificates in another way', () => {
    const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Locked> };
    expect(Object.keys(packages).filter((path) => /(^|\/)node_modules\/pg$/.test(path))).toEqual(['node_modules/pg']);
  });

  test('every package has its reason in docs/dependencies.md', () => {
    const reasons = Array.from(
      readFileSync('docs/dependencies.md', 'utf8').matchAll(/^\| `([^`]+)` \| \S/gm),
      ([, name]) => name,
    );
    expect(reasons.toSorted()).toEqual(Object.keys(pinned).toSorted());
  });
});

describe('the clock', () => {
  // Real time in a billing decision would make a test clock lie. Date arithmetic on given instants is fine.
  const readsClock = /Date\.now\(\)|new Date\(\)|Temporal\.Now|performance\.now|(?<![\w.])now\(\)/;

  test('billing and workflows read no clock; workflows/clock.ts is the one place that waits', () => {
    const readers = files
      .filter((file) => /^(billing|workflows)\//.test(file) && file !== 'workflows/clock.ts')
      .filter((file) => readsClock.test(withoutComments(sources.get(file) ?? '')));
    expect(readers).toEqual([]);
  });
});

function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');
}

describe('size', () => {
  const maxLines = 300;
  // Source text with its comments, which is compiled when it is first called; about 500 of it are the SDK's. A lifecycle adds ten to fifteen.
  const maxBundleKiB = 760;

  test(`no file but a migration is longer than ${maxLines} lines`, () => {
    const long = files.filter(
      (file) => !file.startsWith('db/migrations/') && (sources.get(file) ?? '').split('\n').length - 1 > maxLines,
    );
    expect(long).toEqual([]);
  });

  test(`the workflow bundle stays below ${maxBundleKiB} KiB, so that a cached workflow stays small`, {
    timeout: 60_000,
  }, async () => {
    const { code } = await bundleWorkflows();
    const sizeKiB = code.replace(/\/\/# sourceMappingURL=.*/, '').length / 1024;
    expect(sizeKiB).toBeLessThan(maxBundleKiB);
  });
});
