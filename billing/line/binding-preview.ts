import { refuse } from '../refusal.ts';

/** A line that is shown before it is made, without the ids it is given: what a preview promises to the cent. */
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
  /** The versions of what was read, by what it is: `subscription`, `invoice`, `prices` and others. */
  read: Record<string, number | string>;
  /** How fresh usage was; null where none was read. Other usage since then is no other preview, other lines are. */
  usage: string | null;
  /** A digest of what was asked for. */
  request: string;
  lines: PromisedLine[];
}

/** How long a preview can be executed: as long as somebody looks at it. */
const validMs = 60 * 60 * 1000;

/** Refuses a preview that is older than an hour or of a later present. Throws `version_conflict`. docs: previews.md */
export function refuseStale(preview: Preview, now: string): void {
  const age = Date.parse(now) - Date.parse(preview.at);
  if (age >= 0 && age <= validMs) return;
  throw refuse(
    'version_conflict',
    `the preview is of ${preview.at} and holds for an hour of the customer's time, which is ${now} now; preview again`,
    { difference: { clock: { previewed: preview.at, present: now } } },
  );
}

/**
 * Refuses an execution that would not do what was previewed, with the difference: another version of what was read, another
 * request, or other lines, each told once for as many times as it is missing or added. Throws `version_conflict`.
 * docs: previews.md
 */
export function refuseDifferent(previewed: Preview, present: Preview): void {
  const difference: Record<string, unknown> = {};
  for (const name of new Set([...Object.keys(previewed.read), ...Object.keys(present.read)])) {
    const [before, now] = [previewed.read[name] ?? null, present.read[name] ?? null];
    if (before !== now) difference[name] = { previewed: before, present: now };
  }
  if (previewed.request !== present.request) {
    difference.request = { previewed: previewed.request, present: present.request };
  }
  const missing = without(previewed.lines, present.lines);
  const added = without(present.lines, previewed.lines);
  if (missing.length + added.length > 0) {
    difference.lines = { previewed: missing, present: added };
    if (previewed.usage !== present.usage) difference.usage = { previewed: previewed.usage, present: present.usage };
  }
  if (Object.keys(difference).length === 0) return;
  throw refuse(
    'version_conflict',
    `what was previewed is not so any more (${Object.keys(difference).join(', ')}); preview again`,
    { difference },
  );
}

/** The lines that are not among the others; one that is there twice and among them once is left once. */
function without(lines: readonly PromisedLine[], others: readonly PromisedLine[]): PromisedLine[] {
  const counts = new Map<string, number>();
  for (const line of others) counts.set(keyOf(line), (counts.get(keyOf(line)) ?? 0) + 1);
  return lines.filter((line) => {
    const left = counts.get(keyOf(line)) ?? 0;
    counts.set(keyOf(line), left - 1);
    return left <= 0;
  });
}

/** Lines in an order that is the same wherever they come from: by code point. */
export function inPromisedOrder(lines: readonly PromisedLine[]): PromisedLine[] {
  return lines
    .map((line) => [keyOf(line), line] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, line]) => line);
}

const keyOf = ({ on, name, quantity, amount, start, end }: PromisedLine): string =>
  JSON.stringify([on, name, quantity, amount, start, end]);
