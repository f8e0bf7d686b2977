import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newEndpoint } from '../../../dev/new/endpoint.ts';
import { newEntity } from '../../../dev/new/entity.ts';
import { nounProblem, pluralOf } from '../../../dev/new/names.ts';
import { newWorkflow } from '../../../dev/new/workflow.ts';
import { repositoryFiles } from '../../support/source-imports.ts';

const root = mkdtempSync(join(tmpdir(), 'perennial-new-'));
afterAll(() => rmSync(root, { recursive: true }));
const source = (file: string) => readFileSync(join(root, file), 'utf8');
const today = '2026-12-01';
const report = { root, area: 'usage', noun: 'usage-report' };
const supply = { root, area: 'catalogue', noun: 'office-supply' };

/** Imports of generated sources, and the settings of compiler and linter. */
const isNeeded = (file: string) =>
  /^(activities|api|billing|db|integrations|lifecycles|metering|services|workflows)\/.*\.ts$/.test(file) ||
  /^[\w-]+\.(ts|json)$/.test(file);

// On a busy machine two thousand files and a compiler take their time.
const patient = 180_000;

beforeAll(() => {
  for (const file of repositoryFiles.filter(isNeeded).filter((file) => existsSync(file)))
    cpSync(file, join(root, file));
  symlinkSync(join(process.cwd(), 'node_modules'), join(root, 'node_modules'));
}, patient);

const written: string[] = [];
/** Complaints of a tool about the copy; empty when it has none. */
function complaintsOf(tool: string, ...args: string[]): string {
  const command = join(root, 'node_modules/.bin', tool);
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args], { cwd: root, encoding: 'utf8' });
  return status === 0 ? '' : stdout + stderr;
}

test('a table is an entity and a migration, each in its list', () => {
  written.push(...newEntity({ ...report, today, ofCustomer: true }), ...newEntity({ ...supply, today }));
  expect(written).toEqual([
    'db/entities/usage/usage-report.ts',
    'db/migrations/20261201_10_usage_report.ts',
    'db/entities/all.ts',
    'db/migrations/all.ts',
    'db/check/reference-rules.ts',
    'db/entities/catalogue/office-supply.ts',
    'db/migrations/20261201_11_office_supply.ts',
    'db/entities/all.ts',
    'db/migrations/all.ts',
  ]);
  expect(source('db/entities/all.ts')).toContain("import { UsageReport } from './usage/usage-report.ts';\n");
  expect(source('db/migrations/all.ts')).toMatch(/20261201_10_usage_report.*\n.*20261201_11_office_supply.*\n\];/);
  expect(source('db/check/reference-rules.ts')).toContain("  'usage_report',\n");
  expect(source('db/entities/usage/usage-report.ts')).toContain('/** A usage report. */');
  expect(source('db/entities/catalogue/office-supply.ts')).not.toContain('customerId');
});

test('an endpoint is five files', () => {
  const files = newEndpoint({ ...report, permission: 'event', tag: 'Events' });
  written.push(...files, ...newEndpoint({ ...supply, permission: 'plan', tag: 'Plans' }));
  expect(files).toEqual([
    'api/usage/usage-report.route.ts',
    'api/usage/usage-report.schema.ts',
    'services/usage/usage-report.ts',
    'test/integration/usage/usage-report.test.ts',
    'api/app.ts',
  ]);
  expect(source('api/app.ts')).toContain('  usageReportRoutes,\n  officeSupplyRoutes,\n];');
  expect(source('api/catalogue/office-supply.route.ts')).toContain("app.get('/office-supplies/:id'");
});

test('a lifecycle is four files and their test', async () => {
  const files = newWorkflow(report);
  written.push(...files);
  expect(files).toEqual([
    'workflows/usage/usage-report.ts',
    'activities/usage/usage-report.ts',
    'services/usage/usage-report-life.ts',
    'test/integration/usage/usage-report-life.test.ts',
    'lifecycles/kinds.ts',
  ]);
  const { lifecycleKinds } = await import(join(root, 'lifecycles/kinds.ts'));
  expect(lifecycleKinds.usage_report).toMatchObject({ workflowType: 'usageReport', agenda: ['archiveUsageReport'] });
  const { workflowEntry } = await import(join(root, 'activities/workflow-entry.ts'));
  expect(workflowEntry({ root: '' })).toContain('export { usageReport } from "/workflows/usage/usage-report.ts";');
});

test('everything that was written compiles and is as the linter wants it', { timeout: patient }, () => {
  const files = [...new Set(written)];
  expect(files.filter((file) => /sample|\/\/=/i.test(source(file)))).toEqual([]);
  // Their tests and the list of all routes stand on the whole product, which takes the compiler ten times as long.
  const compiled = files.filter((file) => !/^(test|api\/app)/.test(file));
  // Plugins say by the type of a request what it has; nothing imports them but that list.
  const settings = {
    extends: './tsconfig.json',
    files: compiled,
    include: ['api/plugins/*.ts', 'api/dependencies.ts'],
  };
  writeFileSync(join(root, 'tsconfig.new.json'), JSON.stringify(settings));
  expect(complaintsOf('tsc', '-p', 'tsconfig.new.json')).toBe('');
  expect(complaintsOf('biome', 'check', ...files)).toBe('');
});

describe('what cannot be made changes nothing and says why', () => {
  const lists = () =>
    ['db/entities/all.ts', 'api/app.ts', 'lifecycles/kinds.ts', 'db/check/reference-rules.ts'].map(source);
  const rooms = () =>
    ['api', 'services', 'workflows', 'activities'].map((room) => readdirSync(join(root, room, 'usage')));
  const endpoint = { permission: 'event', tag: 'Events' };
  test.each<[string, () => unknown, RegExp]>([
    ['a table that is there', () => newEntity({ ...report, today }), /usage-report\.ts is there already/],
    [
      'an area that is not',
      () => newEntity({ ...report, area: 'office', today }),
      /there is no area office; there are alert/,
    ],
    ['no noun', () => newEntity({ ...report, noun: 'UsageReport', today }), /words in lower case/],
    ['a word of SQL', () => newEntity({ ...report, noun: 'order', today }), /order is a word of SQL/],
    ['no table', () => newEndpoint({ ...report, noun: 'nothing', ...endpoint }), /npm run new:entity -- usage nothing/],
    [
      'no permission',
      () => newEndpoint({ ...report, ...endpoint, permission: 'x' }),
      /there is no permission x; there are/,
    ],
    ['no tag', () => newEndpoint({ ...report, ...endpoint, tag: 'x' }), /there is no tag x; there are Customers/],
    ['an endpoint that is there', () => newEndpoint({ ...report, ...endpoint }), /route\.ts is there already/],
    ['no customer', () => newWorkflow(supply), /office-supply --of-customer/],
    ['a lifecycle that is there', () => newWorkflow(report), /describes usage_report already/],
    ['the platform', () => newWorkflow({ ...report, area: 'platform' }), /has no lifecycle/],
  ])('%s', (_, make, said) => {
    const [listed, there] = [lists(), rooms()];
    expect(make).toThrow(said);
    expect([lists(), rooms()]).toEqual([listed, there]);
  });
});

test.each([
  ['report', 'reports'],
  ['supply', 'supplies'],
  ['key', 'keys'],
  ['tax', 'taxes'],
])('several of a %s are %s', (noun, plural) => expect(pluralOf(noun)).toBe(plural));

test('a noun fits the names of its indexes', () => {
  expect(nounProblem('usage-report')).toBeNull();
  expect(nounProblem('a-noun-of-very-many-characters')).toContain('longer than 27');
});
