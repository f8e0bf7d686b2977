import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { accepts, freePort } from '../../dev/ports.ts';
import { hasEnded, poll, StartupProblem, startProgram } from '../../dev/processes.ts';
import { installReceiver } from './install.ts';
import type { Language } from './page.ts';

/** A receiver of docs/webhooks.md that runs. */
export interface Receiver {
  language: Language;
  /** Name and port. */
  host: string;
  url: string;
  /** Secret it verifies with. */
  secret: string;
  /** Lines it has written: an event that was received, or a gap. */
  lines(): string[];
  stop(): Promise<void>;
}

const startLimitMs = 60_000;

/** Starts a receiver in a directory of its own, on a free port. Throws `StartupProblem` where it does not start. */
export async function startReceiver(language: Language, directory: string): Promise<Receiver> {
  const { file, args } = installReceiver(language, directory);
  const port = await freePort();
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const logFile = join(directory, 'receiver.log');
  const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret };
  const program = startProgram({ name: `the receiver in ${language}`, file, args, logFile, env });
  const isReady = await poll(
    async () => (hasEnded(program) ? false : (await accepts(port)) || undefined),
    startLimitMs,
  );
  const text = () => readFileSync(logFile, 'utf8');
  if (!isReady) {
    await program.stop();
    throw new StartupProblem(`${program.name} did not start: ${text().trim().split('\n').at(-1)}`);
  }
  return {
    language,
    host: `127.0.0.1:${port}`,
    url: `http://127.0.0.1:${port}/hook`,
    secret,
    lines: () => text().split('\n').filter(Boolean),
    stop: () => program.stop(),
  };
}
