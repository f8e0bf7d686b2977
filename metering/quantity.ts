/**
 * Exact arithmetic on quantities. A quantity is a bigint in units of 10⁻¹⁵: quantities have at most 15 decimals, so
 * sums, maxima and comparisons are integers. spec: catalogue-and-metering §1.1 N3, N4
 */
export const quantityDecimals = 15;

/** Products of a quantity and a time in microseconds: 10⁻²¹. */
export const weightedDecimals = 21;

const numeral = /^([+-]?)(?:([0-9]+)(?:\.([0-9]*))?|\.([0-9]+))(?:[eE]([+-]?[0-9]+))?$/;

/** A numeral longer than this, or with an exponent of four digits, is not used as a number. */
const maxLength = 10_000;
const hugeExponent = /[eE][+-]?0*[1-9][0-9]{3,}$/;

const powers = Array.from({ length: quantityDecimals + 1 }, (_, exponent) => 10n ** BigInt(exponent));

/** True for a number that no arithmetic here takes: it counts as zero and keeps its own text. */
export function isUnusableNumber(text: string): boolean {
  return text.length > maxLength || hugeExponent.test(text);
}

/** True for a decimal numeral that arithmetic takes: `[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?`. */
export function isNumeral(text: string): boolean {
  return numeral.test(text) && !isUnusableNumber(text);
}

/**
 * The integer nearest to `text` × 10^`decimals`, ties away from zero. Null when `text` is no decimal numeral
 * (`[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?`) or is unusable.
 */
export function scaledInteger(text: string, decimals: number): bigint | null {
  const match = numeral.exec(text);
  if (!match || isUnusableNumber(text)) return null;
  const whole = match[2] ?? '';
  const fraction = match[3] ?? match[4] ?? '';
  const shift = decimals - fraction.length + Number(match[5] ?? 0);
  const digits = BigInt(whole + fraction || '0');
  const size =
    shift >= 0 ? digits * (powers[shift] ?? 10n ** BigInt(shift)) : divideRounded(digits, 10n ** BigInt(-shift));
  return match[1] === '-' ? -size : size;
}

/** `numerator / denominator` as an integer, ties away from zero. The denominator is positive. */
export function divideRounded(numerator: bigint, denominator: bigint): bigint {
  const doubled = (numerator < 0n ? -numerator : numerator) * 2n + denominator;
  const size = doubled / (denominator * 2n);
  return numerator < 0n ? -size : size;
}

/** The plain decimal text of an integer in units of 10^-`decimals`: no exponent, no padding, never `-0`. */
export function decimalOfScaled(value: bigint, decimals: number = quantityDecimals): string {
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0');
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  const text = digits.slice(0, digits.length - decimals) + (fraction === '' ? '' : `.${fraction}`);
  return value < 0n ? `-${text}` : text;
}
