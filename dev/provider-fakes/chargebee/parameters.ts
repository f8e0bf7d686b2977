import { invalid } from './books.ts';

/** Refuses parameters that the call does not know. */
export function allow(given: URLSearchParams, names: readonly string[]): void {
  for (const name of given.keys()) if (!names.includes(name)) throw invalid(name, 'param_not_recognized');
}

/** A parameter that has to be there, up to a length. */
export function textIn(given: URLSearchParams, name: string, longest: number): string {
  const value = given.get(name);
  if (value === null || value === '') throw invalid(name, 'param_is_required');
  if (value.length > longest) throw invalid(name);
  return value;
}

/** A positive amount in minor units. */
export function amountIn(given: URLSearchParams, name: string): number {
  const amount = Number(textIn(given, name, 17));
  if (!Number.isSafeInteger(amount) || amount < 1) throw invalid(name);
  return amount;
}
