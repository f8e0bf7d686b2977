import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Database } from '../db/orm.ts';

export interface SharedLimitOptions {
  pool: Database['pool'];
  /** Tells the counts of this limit from those of others in the table. */
  name: string;
  perSecond: number;
  /** The window: its whole allowance may be used at once. */
  windowSeconds: number;
  reportIntervalMs?: number;
}

/** The state of a subject after a request. `waitMs` is 0 for an admitted one, else the time until the next window. */
export interface Allowance {
  limit: number;
  remaining: number;
  waitMs: number;
}

/** Counts requests of subjects (a key, a tenant, an address) and says when one has had its share. */
export interface SharedLimit {
  take(subject: string): Promise<Allowance>;
  /** The request counts for nothing after all. */
  giveBack(subject: string): Promise<void>;
  /** Brings what was counted to the other processes now, instead of within a tenth of a second. */
  report(): Promise<void>;
  close(): void;
}

const defaultReportIntervalMs = 100;
/** The part of an allowance that a process counts for itself: callers that are quiet cost the database nothing. */
const ownPart = 0.1;

/**
 * A limit of so many requests a window for each subject over all processes of the API. No request waits for the database: a process
 * admits from its memory, adds what it admitted to a common count within a tenth of a second, and refuses a subject whose common
 * count is used up until that count's window ends. So a subject gets at most a tenth of the allowance in each process, and what comes
 * in a tenth of a second, on top. When the database is away each process goes on with its own count.
 */
export function sharedLimit(options: SharedLimitOptions): SharedLimit {
  const limit = options.perSecond * options.windowSeconds;
  const own = Math.floor(limit * ownPart);
  const local = new RateLimiterMemory({ points: limit, duration: options.windowSeconds });
  const shared = new RateLimiterPostgres({
    storeClient: options.pool,
    storeType: 'pool',
    schemaName: 'rate_limit',
    tableName: 'request_count',
    tableCreated: true,
    keyPrefix: options.name,
    points: limit,
    duration: options.windowSeconds,
  });
  const unreported = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let reporting: Promise<void> | undefined;

  const reportOne = async ([subject, points]: [string, number]): Promise<void> => {
    const { consumedPoints, msBeforeNext } = await shared.penalty(subject, points);
    if (consumedPoints >= limit && msBeforeNext > 0) await local.block(subject, msBeforeNext / 1_000);
  };
  const report = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    await reporting;
    const due = [...unreported].filter(([, points]) => points !== 0);
    unreported.clear();
    // Without the database the count of this process stands alone.
    reporting = Promise.allSettled(due.map(reportOne)).then(() => undefined);
    await reporting;
  };
  const count = (subject: string, points: number): void => {
    unreported.set(subject, (unreported.get(subject) ?? 0) + points);
    timer ??= setTimeout(() => void report(), options.reportIntervalMs ?? defaultReportIntervalMs).unref();
  };

  return {
    async take(subject) {
      const state = await local.consume(subject).catch((refused: unknown) => {
        if (refused instanceof RateLimiterRes) return refused;
        throw refused;
      });
      const isRefused = state.consumedPoints > limit;
      if (!isRefused && state.consumedPoints > own) count(subject, 1);
      return { limit, remaining: state.remainingPoints, waitMs: isRefused ? Math.max(state.msBeforeNext, 1) : 0 };
    },
    async giveBack(subject) {
      const { consumedPoints } = await local.reward(subject);
      if (consumedPoints >= own) count(subject, -1);
    },
    report,
    close() {
      clearTimeout(timer);
    },
  };
}
