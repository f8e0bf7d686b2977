import { refusalIn, statusOfCode } from '../../billing/refusal.ts';

/** A vector's members, in its own spelling. */
// biome-ignore lint/suspicious/noExplicitAny: vectors are free-form JSON; every adapter names the members it reads
export type Given = any;

/** Maps a vector's members to a production function and its result back. It holds no rule of billing. */
export type Adapter = (given: Given) => unknown;

export type Adapters = Record<string, Adapter>;

/** What a call gives, now or later; a refusal in the form vectors expect, anything else thrown stays thrown. */
export function outcome(call: () => unknown): unknown {
  try {
    const result = call();
    return result instanceof Promise ? result.catch(refused) : result;
  } catch (thrown) {
    return refused(thrown);
  }
}

function refused(thrown: unknown): unknown {
  const refusal = refusalIn(thrown);
  if (!refusal) throw thrown;
  return { error: { code: refusal.code, http_status_code: statusOfCode[refusal.code] }, ...refusal.details };
}

/** A number or text of a vector as the decimal text production takes; absent and null stay null. */
export function text(value: string | number | null | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}

/** An instant of a vector in the one form instants have in the code, which compares as text. */
export function instant(value: string): string {
  return new Date(value).toISOString();
}
