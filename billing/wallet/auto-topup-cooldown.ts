import { decimal, decimalString } from '../money/money.ts';
import { refuse } from '../refusal.ts';

const nanosecondsOf: Readonly<Record<string, bigint>> = {
  second: 1_000_000_000n,
  minute: 60_000_000_000n,
  hour: 3_600_000_000_000n,
  day: 86_400_000_000_000n,
};
const longest = 365n * 86_400_000_000_000n;

/**
 * The pause between automatic top-ups in nanoseconds, as text, from what a caller sends: whole nanoseconds as text or number, or a
 * whole value with its unit. Null for 0, which clears it. Throws `validation_error` for anything else and for less than 0.
 * spec: wallets-and-payments §2.11
 */
export function parseCooldown(given: unknown): string | null {
  const nanoseconds = typeof given === 'object' && given !== null ? ofUnit(given) : ofNanoseconds(given);
  return nanoseconds === 0n ? null : String(nanoseconds);
}

/** Refuses a pause that is longer than a year, which nobody means. design: money-in-wallets finding 47 */
export function refuseLongCooldown(nanoseconds: string | null): void {
  if (nanoseconds !== null && BigInt(nanoseconds) > longest) throw bad('must be at most 365 days');
}

/** Seconds of a stored pause, as a decimal text; null without one. */
export function cooldownSeconds(nanoseconds: string | null): string | null {
  return nanoseconds === null ? null : decimalString(decimal(nanoseconds).dividedBy(1_000_000_000));
}

/** Milliseconds of a stored pause, rounded up: a pause never ends early. */
export function cooldownMs(nanoseconds: string | null): number | null {
  return nanoseconds === null ? null : Number((BigInt(nanoseconds) + 999_999n) / 1_000_000n);
}

function ofNanoseconds(given: unknown): bigint {
  const text = typeof given === 'number' && Number.isSafeInteger(given) ? String(given) : given;
  if (typeof text !== 'string' || !/^\d{1,18}$/.test(text)) {
    throw bad('must be whole nanoseconds of 0 or more, or {value, unit} with a unit of second, minute, hour or day');
  }
  return BigInt(text);
}

function ofUnit(given: object): bigint {
  const { value, unit } = given as { value?: unknown; unit?: unknown };
  const scale = typeof unit === 'string' && Object.hasOwn(nanosecondsOf, unit) ? nanosecondsOf[unit] : undefined;
  if (scale === undefined) throw bad('has a unit that is not second, minute, hour or day');
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text !== 'string' || !/^\d{1,18}$/.test(text))
    throw bad('has a value that is not a whole number of 0 or more');
  return BigInt(text) * scale;
}

function bad(problem: string): Error {
  return refuse('validation_error', `auto_topup.cooldown ${problem}`, { fields: { 'auto_topup.cooldown': problem } });
}
