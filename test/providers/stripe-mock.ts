import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accepts, freePort } from '../../dev/ports.ts';
import { hasEnded, poll, StartupProblem, startProgram } from '../../dev/processes.ts';
import { cacheDirectory, goInstall } from '../../dev/temporal-binary.ts';
import type { Counts } from './counts.ts';
import { type RecordedCall, recordStripeCalls } from './stripe-calls.ts';

const version = '0.203.0';
/** The document of that version is of 2026-08-26; a page takes this member since 2026-10-28, so it is left out here. */
const newer = { path: '/v1/checkout/sessions', member: /allowed_payment_method_types%5B\d+%5D=\w+&?/g };

/**
 * Sends every request that Stripe's adapter sends to stripe-mock, Stripe's own server, which refuses what its published OpenAPI document does
 * not have; Go builds it once. What our fake answers must have the types of Stripe's answers. Throws `StartupProblem` where it does not run.
 */
export async function againstStripeMock(): Promise<Counts> {
  const program = join(cacheDirectory(), `stripe-mock-v${version}`);
  if (!existsSync(program) && !(await goInstall(`github.com/stripe/stripe-mock@v${version}`, program, console.log))) {
    throw new StartupProblem('stripe-mock could not be built: install Go and see that its module proxy is reachable');
  }
  const port = await freePort();
  const mock = startProgram({
    name: 'stripe-mock',
    file: program,
    args: ['-http-port', String(port)],
    logFile: join(tmpdir(), `stripe-mock-${port}.log`),
  });
  try {
    const isReady = await poll(async () => (hasEnded(mock) ? false : (await accepts(port)) || undefined), 30_000);
    if (!isReady) throw new StartupProblem(`stripe-mock did not start; see ${mock.logFile}`);
    const calls = await recordStripeCalls();
    let failed = 0;
    for (const call of calls) {
      const problem = await problemOf(call, `http://127.0.0.1:${port}`);
      if (problem === null) continue;
      failed += 1;
      console.log(`${call.method} ${call.path}\n  ${problem}`);
    }
    console.log(`stripe-mock ${version}: ${calls.length - failed} passed, ${failed} failed`);
    return { passed: calls.length - failed, failed };
  } finally {
    await mock.stop();
  }
}

async function problemOf({ method, path, headers, body, answer }: RecordedCall, url: string): Promise<string | null> {
  const sent = path === newer.path ? body.replaceAll(newer.member, '') : body;
  const response = await fetch(`${url}${path}`, { method, headers, ...(method === 'POST' ? { body: sent } : {}) });
  const real = (await response.json()) as Record<string, unknown>;
  if (!response.ok) return `${response.status} ${JSON.stringify(real)} to ${decodeURIComponent(body)}`;
  const wrong = Object.keys(answer).filter((name) => differ(answer[name], real[name]));
  return wrong.length === 0 ? null : `the fake answers ${wrong.join(', ')} in another type than Stripe`;
}

/** Whether two members that are both there are of different JSON types. An id stands for an object that is not expanded. */
function differ(ours: unknown, theirs: unknown): boolean {
  if (ours == null || theirs == null) return false;
  const isExpandable = [ours, theirs].some((one) => typeof one === 'string') && [ours, theirs].some(isObject);
  return !isExpandable && (typeof ours !== typeof theirs || Array.isArray(ours) !== Array.isArray(theirs));
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && typeof (value as { id?: unknown }).id === 'string';
}
