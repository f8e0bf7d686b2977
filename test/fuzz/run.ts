import { execFileSync, spawnSync } from 'node:child_process';
import { createReadStream, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { apiTarget } from '../../dev/target.ts';
import { type Finding, findingsOf, type Operations, type ScenarioEvent } from './findings.ts';

/*
 * `npm run test:fuzz -- --requests N --seed S`: Schemathesis, which pip installs into a cache directory, sends a running server (that of
 * `npm start`, or PERENNIAL_URL and PERENNIAL_API_KEY) about N requests made from its OpenAPI document, right ones and wrong ones. Ends
 * with 1 when an answer is a 5xx or a status that the document does not have. What it found becomes a test of ours (test/integration).
 */

const version = '4.32.5';
const { values } = parseArgs({
  options: { requests: { type: 'string', default: '20000' }, seed: { type: 'string', default: '1' } },
});
const requests = wholeNumber('requests', values.requests);
const seed = wholeNumber('seed', values.seed);
const { apiUrl, apiKey } = apiTarget(process.env);
const document = (await (await fetch(`${apiUrl}/openapi.json`)).json()) as { paths: Operations };
const operations = Object.values(document.paths).reduce((sum, path) => sum + Object.keys(path).length, 0);
const examples = Math.max(1, Math.ceil(requests / operations));
const patienceMs = 600_000 + requests * 200;

const folder = mkdtempSync(join(tmpdir(), 'perennial-fuzz-'));
const report = join(folder, 'cases.ndjson');
console.log(`${examples} requests at each of ${operations} operations of ${apiUrl}, seed ${seed}`);
try {
  const { error, status } = spawnSync(
    installed(),
    [
      ...['run', `${apiUrl}/openapi.json`, '--url', apiUrl, '--header', `x-api-key: ${apiKey}`],
      ...['--phases', 'fuzzing', '--checks', 'not_a_server_error,status_code_conformance', '--continue-on-failure'],
      ...['--max-examples', String(examples), '--seed', String(seed), '--no-shrink', '--request-timeout', '30'],
      // An answer of the stream has no end.
      ...['--exclude-operation-id', 'streamOutboundEvents'],
      ...['--rate-limit', '90/s', '--warnings', 'off', '--report', 'ndjson', '--report-ndjson-path', report],
    ],
    { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'], timeout: patienceMs },
  );
  // It ends with 1 when it found something, which is judged here.
  if (error || (status !== 0 && status !== 1)) throw new Error(`Schemathesis broke off: ${error?.message ?? status}`);
  process.exitCode = await verdict();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function verdict(): Promise<number> {
  const statuses = new Map<number, number>();
  const findings = new Map<string, Finding>();
  for await (const line of createInterface({ input: createReadStream(report) })) {
    const { ScenarioFinished: scenario } = JSON.parse(line) as { ScenarioFinished?: ScenarioEvent };
    if (!scenario) continue;
    for (const { response } of Object.values(scenario.recorder.interactions)) {
      const status = response?.status_code ?? 0;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    for (const finding of findingsOf(scenario, document.paths))
      findings.set(`${finding.operation} ${finding.status}`, finding);
  }
  const sent = [...statuses.values()].reduce((sum, count) => sum + count, 0);
  const told = [...statuses].sort(([one], [other]) => one - other).map(([status, count]) => `${status}: ${count}`);
  for (const { operation, status, request } of findings.values())
    console.log(`${operation} answers ${status || 'nothing'} to\n  ${request}`);
  console.log(`${sent} requests (${told.join(', ')}); ${findings.size} findings`);
  return sent === 0 || findings.size > 0 ? 1 : 0;
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
