/** Exact fractions for oracles: nothing of the product's arithmetic is used. The denominator is positive. */
export interface Fraction {
  readonly n: bigint;
  readonly d: bigint;
}

export const fraction = (n: bigint | number, d: bigint | number = 1n): Fraction => reduced(BigInt(n), BigInt(d));

export const add = (a: Fraction, b: Fraction): Fraction => reduced(a.n * b.d + b.n * a.d, a.d * b.d);
export const negated = (a: Fraction): Fraction => ({ n: -a.n, d: a.d });
export const times = (a: Fraction, b: Fraction): Fraction => reduced(a.n * b.n, a.d * b.d);
export const over = (a: Fraction, b: Fraction): Fraction => reduced(a.n * b.d, a.d * b.n);
export const compare = (a: Fraction, b: Fraction): number => sign(a.n * b.d - b.n * a.d);
export const sumOf = (all: readonly Fraction[]): Fraction => all.reduce(add, fraction(0));
export const greatestOf = (all: readonly Fraction[]): Fraction => all.reduce((a, b) => (compare(b, a) > 0 ? b : a));

/** The greatest integer that is not above it. */
export function floored(a: Fraction): bigint {
  const quotient = a.n / a.d;
  return a.n % a.d < 0n ? quotient - 1n : quotient;
}

/** The nearest multiple of 10^-decimals, ties away from zero. */
export function rounded(a: Fraction, decimals: number): Fraction {
  const scale = 10n ** BigInt(decimals);
  const size = floored(fraction(2n * (a.n < 0n ? -a.n : a.n) * scale + a.d, 2n * a.d));
  return fraction(a.n < 0n ? -size : size, scale);
}

/** Plain notation of a fraction that ends within 15 decimals. */
export function plainText(a: Fraction): string {
  const scaled = (a.n * 10n ** 15n) / a.d;
  const digits = (scaled < 0n ? -scaled : scaled).toString().padStart(16, '0');
  const text = `${digits.slice(0, -15)}.${digits.slice(-15)}`.replace(/\.?0+$/, '');
  return scaled < 0n ? `-${text}` : text;
}

/** The fraction a plain numeral like `-12.5` stands for. */
export function parsed(text: string): Fraction {
  const [whole = '0', decimals = ''] = text.replace('-', '').split('.');
  const size = fraction(BigInt(whole + decimals), 10n ** BigInt(decimals.length));
  return text.startsWith('-') ? negated(size) : size;
}

function reduced(n: bigint, d: bigint): Fraction {
  if (d === 0n) throw new Error('a fraction over zero');
  let [a, b] = [n < 0n ? -n : n, d < 0n ? -d : d];
  while (b > 0n) [a, b] = [b, a % b];
  const divisor = d < 0n ? -a : a;
  return divisor === 0n ? { n: 0n, d: 1n } : { n: n / divisor, d: d / divisor };
}

function sign(a: bigint): number {
  return a === 0n ? 0 : a > 0n ? 1 : -1;
}
