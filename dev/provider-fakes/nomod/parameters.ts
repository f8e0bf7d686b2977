import { decimal, sum } from '../../../billing/money/money.ts';
import { NomodRefusal } from './books.ts';

export type Parameters = Readonly<Record<string, unknown>>;

/** The parameters of a request; throws a refusal for what is no JSON object. */
export function parseParameters(text: string): Parameters {
  const value: unknown = text === '' ? {} : JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new NomodRefusal(400, 'invalid_request');
  return value as Parameters;
}

/** Refuses parameters that Nomod does not know. */
export function allow(parameters: Parameters, known: readonly string[]): void {
  const extra = Object.keys(parameters).find((name) => !known.includes(name));
  if (extra !== undefined) throw new NomodRefusal(400, 'unknown_field', extra);
}

export function text(parameters: Parameters, name: string, longest = 2048): string {
  const value = parameters[name];
  if (typeof value !== 'string' || value === '') throw new NomodRefusal(400, 'field_required', name);
  if (value.length > longest) throw new NomodRefusal(400, 'field_too_long', name);
  return value;
}

export function address(parameters: Parameters, name: string): string {
  const value = text(parameters, name);
  if (!URL.canParse(value)) throw new NomodRefusal(400, 'invalid_url', name);
  return value;
}

/** An amount of decimal text in whole units, above zero. */
export function amountOf(parameters: Parameters, name = 'amount'): number {
  const value = text(parameters, name);
  if (!/^\d{1,12}(\.\d{1,3})?$/.test(value) || Number(value) <= 0) throw new NomodRefusal(400, 'invalid_amount', name);
  return Number(value);
}

export function currencyOf(parameters: Parameters): string {
  const value = text(parameters, 'currency', 3);
  if (!/^[A-Z]{3}$/.test(value)) throw new NomodRefusal(400, 'invalid_currency', 'currency');
  return value;
}

/** Items that come to the amount of their checkout. */
export function itemsOf({ items }: Parameters, amount: number): Record<string, unknown>[] {
  if (!Array.isArray(items) || items.length === 0) throw new NomodRefusal(400, 'missing_required_items', 'items');
  const nets = items.map((item: Parameters) => {
    allow(item, [
      'item_id',
      'name',
      'quantity',
      'unit_amount',
      'discount_type',
      'discount_amount',
      'total_amount',
      'net_amount',
    ]);
    for (const name of ['item_id', 'name']) text(item, name, 255);
    const [unit, total] = [amountOf(item, 'unit_amount'), amountOf(item, 'total_amount')];
    if (!Number.isInteger(item.quantity) || !decimal(unit).times(Number(item.quantity)).equals(total)) {
      throw new NomodRefusal(400, 'invalid_amount', 'total_amount');
    }
    return decimal(amountOf(item, 'net_amount'));
  });
  if (!sum(nets).equals(amount)) throw new NomodRefusal(400, 'invalid_amount', 'items');
  return items as Record<string, unknown>[];
}

/** Metadata within Nomod's limits: 40 names of 24 letters and digits, with values of 512 characters. */
export function metadataOf({ metadata = {} }: Parameters): Record<string, string> {
  const entries = Object.entries(metadata as Record<string, unknown>);
  const isTooMuch =
    entries.length > 40 ||
    entries.some(
      ([name, value]) => !/^[A-Za-z0-9]{1,24}$/.test(name) || typeof value !== 'string' || value.length > 512,
    );
  if (isTooMuch) throw new NomodRefusal(400, 'invalid_metadata', 'metadata');
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
}
