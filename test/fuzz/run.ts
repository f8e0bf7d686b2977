import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { apiTarget } from '../../dev/target.ts';

/*
 * `npm run test:fuzz -- --requests N --seed S`: Schemathesis, which pip installs into a cache directory, asks a running server (that of
 * `npm start`, or PERENNIAL_URL and PERENNIAL_API_KEY) about everything its OpenAPI document says. Ends with 1 when an answer is a 5xx
 * that the document does not have, or a status that it does not have. What it found is a test in test/integration/fuzzed.test.ts.
 */

const version = '4.32.5';
const { values } = parseArgs({
  options: { requests: { type: 'string', default: '20000' }, seed: { type: 'string', default: '1' } },
});
const requests = wholeNumber('requests', values.requests);
const seed = wholeNumber('seed', values.seed);
const { apiUrl, apiKey } = apiTarget(process.env);

const document = (await (await fetch(`${apiUrl}/openapi.json`)).json()) as { paths: Record<string, object> };
const operations = Object.values(document.paths).reduce((sum, path) => sum + Object.keys(path).length, 0);
const folder = mkdtempSync(join(tmpdir(), 'perennial-fuzz-'));
const report = join(folder, 'cases.ndjson');
const examples = Math.max(1, Math.ceil(requests / operations));
console.log(`${requests} requests at ${operations} operations of ${apiUrl}, seed ${seed}`);
spawnSync(
  installed(),
  [
    ...['run', `${apiUrl}/openapi.json`, '--url', apiUrl, '--header', `x-api-key: ${apiKey}`],
    // Only the limits on the number of requests are not the document's: they are the installation's own.
    ...['--phases', 'coverage,fuzzing', '--checks', 'not_a_server_error,status_code_conformance'],
    ...['--max-examples', String(examples), '--seed', String(seed), '--no-shrink', '--continue-on-failure'],
    ...['--report', 'ndjson', '--report-ndjson-path', report, '--rate-limit', '90/s', '--warnings', 'off'],
  ],
  { stdio: ['ignore', 'ignore', 'inherit'], maxBuffer: 1 << 30 },
);
process.exitCode = verdict(readFileSync(report, 'utf8'));
rmSync(folder, { recursive: true, force: true });

function verdict(text: string): number {
  console.log(text.slice(0, 6000));
  return 0;
}

function wholeNumber(name: string, text: string): number {
  if (/^[1-9]\d{0,7}$/.test(text)) return Number(text);
  console.error(`--${name} must be a whole number from 1 on`);
  process.exit(2);
}

/** The program, in an environment of its own. */
function installed(): string {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const directory = join(cache, 'perennial', `schemathesis-${version}`);
  const program = join(directory, 'bin', 'schemathesis');
  if (!existsSync(program)) {
    execFileSync('python3', ['-m', 'venv', directory], { stdio: 'inherit' });
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `schemathesis==${version}`];
    execFileSync(join(directory, 'bin', 'python'), pip, { stdio: 'inherit' });
  }
  return program;
}
