import { refuse } from './refusal.ts';

/** A line that a change makes, without the ids it is given: what a preview promises to the cent. */
export interface PromisedLine {
  /** Where it stands: on an invoice, or what goes to a wallet; or a line item that begins, ends or is changed. */
  on: string;
  name: string;
  quantity: string;
  amount: string;
  start: string;
  end: string;
}

/** What a preview read and what it showed. */
export interface Preview {
  /** The customer's present, which the execution takes for its own. */
  at: string;
  /** The version of the subscription. */
  subscription: number;
  /** A digest of the prices of the subscription. */
  prices: string;
  /** How fresh usage was; null where none was read. Other usage since then is no other preview, other lines are. */
  usage: string | null;
  /** A digest of what was asked for. */
  request: string;
  lines: PromisedLine[];
}

/** How long a preview can be executed: as long as somebody looks at it. */
const validMs = 60 * 60 * 1000;

/** Refuses a preview that is older than an hour or of a later present. Throws `version_conflict`. */
export function refuseStale(preview: Preview, now: string): void {
  const age = Date.parse(now) - Date.parse(preview.at);
  if (age >= 0 && age <= validMs) return;
  throw refuse(
    'version_conflict',
    `the preview is of ${preview.at} and can be executed within an hour of the customer's time, which is ${now} now; preview again`,
    { difference: { clock: { previewed: preview.at, present: now } } },
  );
}

/**
 * Refuses an execution that would not do what was previewed, with the difference: another version of what was read, or other
 * lines. Throws `version_conflict`.
 */
export function refuseDifferent(previewed: Preview, present: Preview): void {
  const difference: Record<string, unknown> = {};
  for (const member of ['subscription', 'prices', 'request'] as const) {
    if (previewed[member] !== present[member]) {
      difference[member] = { previewed: previewed[member], present: present[member] };
    }
  }
  const missing = previewed.lines.filter((line) => !has(present.lines, line));
  const added = present.lines.filter((line) => !has(previewed.lines, line));
  if (missing.length + added.length > 0 || previewed.lines.length !== present.lines.length) {
    difference.lines = { previewed: missing, present: added };
    if (previewed.usage !== present.usage) difference.usage = { previewed: previewed.usage, present: present.usage };
  }
  if (Object.keys(difference).length === 0) return;
  throw refuse(
    'version_conflict',
    `the subscription changed since it was previewed (${Object.keys(difference).join(', ')}); preview again`,
    { difference },
  );
}

function has(lines: readonly PromisedLine[], line: PromisedLine): boolean {
  const text = JSON.stringify(line);
  return lines.some((other) => JSON.stringify(other) === text);
}
