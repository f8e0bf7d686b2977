import { digest } from './event.ts';
import { decimalOfScaled, isNumeral, isUnusableNumber, quantityDecimals, scaledInteger } from './quantity.ts';

const magnitudeLimit = 10n ** 45n;

interface RawNumber {
  readonly rawJSON: string;
}

/** A JSON number that a float would change arrives as `JSON.rawJSON` of its own text (api/plugins/json-body.ts). */
function numberText(value: unknown): string | null {
  if (typeof value === 'number') return String(value);
  return isRawNumber(value) ? value.rawJSON : null;
}

function isRawNumber(value: unknown): value is RawNumber {
  return typeof value === 'object' && value !== null && (JSON as unknown as RawJson).isRawJSON(value);
}

interface RawJson {
  isRawJSON(value: unknown): boolean;
}

/**
 * The quantity of a property in units of 10⁻¹⁵: a number, or a string that is entirely a decimal numeral, rounded half
 * away from zero to 15 decimals; everything else, and a magnitude of 10³⁰ or more, is zero. The SQL function
 * `usage.quantity` gives the same. spec: catalogue-and-metering §7.1 Coercion to number
 */
export function quantityOf(value: unknown): bigint {
  const text = typeof value === 'string' ? value : numberText(value);
  const quantity = text === null ? null : scaledInteger(text, quantityDecimals);
  if (quantity === null || text === null) return 0n;
  if (quantity > -magnitudeLimit && quantity < magnitudeLimit) return quantity;
  return reachesLimit(text) ? 0n : quantity;
}

/** A value just below 10³⁰ may round up to it: the limit is on the value itself. */
function reachesLimit(text: string): boolean {
  const exact = scaledInteger(text, 12_000);
  return exact === null || exact >= 10n ** 12_030n || exact <= -(10n ** 12_030n);
}

/**
 * The text form of a property, for filters and distinct values: a string as it is, a number in plain notation without
 * trailing zeros, `true` or `false`; null for everything else. spec: catalogue-and-metering §7.1 Filters
 */
export function textForm(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  const text = numberText(value);
  return text === null || isUnusableNumber(text) ? text : plainNumber(text);
}

/**
 * The numeral that an expression takes for a property: `0` for an absent one; null for everything that is no number or
 * no numeral, which fails the expression. spec: catalogue-and-metering §5.3
 */
export function expressionText(value: unknown): string | null {
  if (value === undefined) return '0';
  const text = typeof value === 'string' ? value : numberText(value);
  if (text === null || !isNumeral(text)) return null;
  return text.startsWith('+') ? text.slice(1) : text;
}

const maxGroupBytes = 1_000;
const shownOfLongGroup = 200;

/**
 * The group an event belongs to by its property: the text form, and the empty string without one. A text too long for an
 * index is its beginning and its digest. `usage.group_key` in SQL is the same. spec: catalogue-and-metering §7.1
 */
export function groupKey(value: unknown): string {
  const text = textForm(value) ?? '';
  if (text.length <= maxGroupBytes / 4 || Buffer.byteLength(text) <= maxGroupBytes) return text;
  return `${[...text].slice(0, shownOfLongGroup).join('')}#${digest(text)}`;
}

/** Every digit of a numeral, without exponent and padding. */
function plainNumber(text: string): string {
  if (/^-?[0-9]+$/.test(text) && text !== '-0') return text;
  const [mantissa = '', exponent = '0'] = text.split(/[eE]/);
  const decimals = Math.max(0, (mantissa.split('.')[1] ?? '').length - Number(exponent));
  const scaled = scaledInteger(text, decimals);
  return scaled === null ? text : decimalOfScaled(scaled, decimals);
}
