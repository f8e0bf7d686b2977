import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';

/** Rooms of `billing/` that compute for an area, beside the one that is called like it. */
const computing: Record<string, string[]> = {
  catalogue: ['price', 'allowance'],
  usage: ['line', 'allowance'],
  subscription: ['time', 'commitment', 'line'],
  invoice: ['line', 'money', 'explanation'],
};

/** Rooms of `services/` that are no area of their own: the areas whose tests look at them. */
const within: Record<string, string[]> = {
  ledger: ['wallet'],
  topup: ['wallet'],
  charging: ['subscription'],
  collection: ['payment'],
  refund: ['payment'],
  evaluation: ['alert'],
  across: ['customer', 'invoice', 'subscription', 'wallet'],
};

const areas = readdirSync('test/integration').sort();

/** Folders of the unit and integration tests of an area. */
function foldersOf(area: string): string[] {
  const rooms = [area, ...(computing[area] ?? [])].map((room) => `test/unit/billing/${room}/`);
  return [`test/unit/${area}/`, ...rooms, `test/integration/${area}/`].filter((folder) => existsSync(folder));
}

/** Paths that differ from a commit, those that git does not know yet included. */
function changedSince(commit: string): string[] {
  const names = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean);
  return [
    ...names('diff', '--name-only', '--diff-filter=d', commit),
    ...names('ls-files', '--others', '--exclude-standard'),
  ];
}

/** Runs a command in this terminal and returns whether it ended well. */
function run(command: string, args: string[]): boolean {
  console.log(`> ${[command, ...args].join(' ')}`);
  return spawnSync(command, args, { stdio: 'inherit' }).status === 0;
}

const projects = ['--project', 'unit', '--project', 'integration'];

/** `npm run test:area -- <area>`: the unit and integration tests of an area, and the worked cases. */
function testArea(area: string): boolean {
  if (!areas.includes(area)) {
    console.error(`usage: npm run test:area -- <area>\nareas: ${areas.join(', ')}`);
    return false;
  }
  return (
    run('vitest', ['run', ...projects, ...foldersOf(area)]) &&
    run('node', ['test/vectors/run.ts', 'test/vectors/cases'])
  );
}

/**
 * `npm run test:changed [-- <commit>]`: what changed since a commit, by default the last one. Of the tests without servers those that
 * import what changed, at whatever distance; of the integration tests, all of which import the whole product, those that
 * changed and those of the areas whose files did.
 */
function testChanged(commit: string): boolean {
  const changed = changedSince(commit);
  const own = changed.filter((file) => /^test\/integration\/.*\.test\.ts$/.test(file));
  const product = changed.filter((file) =>
    /^(api|workflows|activities|services|integrations|metering|db\/entities)\/.*\.ts$/.test(file),
  );
  const touched = new Set(product.flatMap(areasOf));
  const folders = [...touched].map((area) => `test/integration/${area}/`);
  const related = ['run', '--project', 'unit', '--project', 'replay', '--passWithNoTests', '--changed', commit];
  const slices = [...new Set([...folders, ...own])];
  return (
    run('vitest', related) && (slices.length === 0 || run('vitest', ['run', '--project', 'integration', ...slices]))
  );
}

/** The areas of a product file; none for what every area shares. */
function areasOf(file: string): string[] {
  const [layer = '', room = ''] = file.replace(/^db\//, '').split('/');
  if (layer === 'integrations') return ['integration'];
  if (layer === 'metering') return ['usage'];
  return areas.includes(room) ? [room] : (within[room] ?? []);
}

const [what = '', commit = 'HEAD'] = process.argv.slice(2);
process.exitCode = (what === '--changed' ? testChanged(commit) : testArea(what)) ? 0 : 1;
