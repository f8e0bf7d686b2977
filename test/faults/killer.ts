import { setTimeout as delay } from 'node:timers/promises';
import { poll } from '../../dev/processes.ts';
import type { Installation } from './installation.ts';
import type { PartName } from './part.ts';
import type { Random } from './random.ts';

export interface KillerOptions {
  installation: Installation;
  random: Random;
  /** Rises with every committed change; undefined while the database does not answer. */
  progress(): Promise<number | undefined>;
  /** Whether to go on. */
  isWanted(): boolean;
  /** Whether another kill is due; otherwise there are only pauses. */
  mayKill(): boolean;
  onKill(name: PartName): void;
  onPause(name: PartName): void;
}

/** Workers also die at crash points, so they are chosen less often. */
const victims: readonly PartName[] = [
  'PostgreSQL',
  'PostgreSQL',
  'PostgreSQL',
  'Temporal',
  'Temporal',
  'Temporal',
  'API',
  'API',
  'worker',
];
const pausable: readonly PartName[] = ['PostgreSQL', 'Temporal', 'API', 'worker'];
const progressLimitMs = 2_000;
const readyLimitMs = 60_000;
const longestPauseMs = 600;
const longestWaitMs = 500;

/** Kills and pauses in seeded order, each after the installation did something since the last one. */
export async function killInTurn(options: KillerOptions): Promise<void> {
  const { installation, random } = options;
  while (options.isWanted()) {
    await someProgress(options);
    await delay(random.whole(longestWaitMs));
    if (random.whole(4) === 0) {
      const name = random.oneOf(pausable);
      if (await installation.parts[name].pause(100 + random.whole(longestPauseMs - 100))) options.onPause(name);
      continue;
    }
    if (!options.mayKill()) continue;
    const name = random.oneOf(victims);
    const part = installation.parts[name];
    const isUp = await poll(() => part.isReady || !options.isWanted() || undefined, readyLimitMs);
    if (!isUp) throw new Error(`${name} did not come back in ${readyLimitMs / 1000} s`);
    if (!options.isWanted()) return;
    if (part.kill()) options.onKill(name);
  }
}

/** Some kills fall together: what waits for a part that is away may make no progress, and is hit again. */
async function someProgress({ progress, isWanted }: KillerOptions): Promise<void> {
  const before = await poll(async () => (isWanted() ? await progress() : -1), progressLimitMs, 50);
  await poll(
    async () => {
      if (!isWanted()) return true;
      const now = await progress();
      return now !== undefined && (before === undefined || now > before) ? true : undefined;
    },
    progressLimitMs,
    50,
  );
}
