/**
 * A second reading of catalogue-and-metering §4.3, §4.4 and §1.1 in fractions of whole numbers, from the chapter alone. It
 * shares no code with billing/ and no arithmetic with decimal.js: nothing is ever rounded but where the chapter says so.
 */
export interface Fraction {
  n: bigint;
  /** Above zero; not reduced. */
  d: bigint;
}

/** A price in wire spelling, as a caller writes it; members may be absent. */
export interface OraclePrice {
  billing_model: string;
  currency: string;
  amount?: string | null;
  tier_mode?: string | null;
  tiers?: { up_to?: string | null; unit_amount: string; flat_amount?: string | null }[] | null;
  transform_quantity?: { divide_by: number | string; round?: string | null } | null;
  percentage_rate?: string | null;
  /** A custom currency: the amounts are in it. */
  price_unit?: { rate: string } | null;
}

export const nothing: Fraction = { n: 0n, d: 1n };

/** The fraction a decimal text says, however many digits it has. */
export function fraction(text: string): Fraction {
  const [, sign, whole, digits = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text)!;
  const n = BigInt(`${whole}${digits}`);
  return { n: sign ? -n : n, d: 10n ** BigInt(digits.length) };
}

export function plus(a: Fraction, b: Fraction): Fraction {
  return { n: a.n * b.d + b.n * a.d, d: a.d * b.d };
}

export function minus(a: Fraction, b: Fraction): Fraction {
  return plus(a, { n: -b.n, d: b.d });
}

export function times(a: Fraction, b: Fraction): Fraction {
  return { n: a.n * b.n, d: a.d * b.d };
}

export function over(a: Fraction, b: Fraction): Fraction {
  return b.n < 0n ? { n: -a.n * b.d, d: a.d * -b.n } : { n: a.n * b.d, d: a.d * b.n };
}

/** Below zero where a is less than b, above it where a is more. */
export function compare(a: Fraction, b: Fraction): number {
  const difference = a.n * b.d - b.n * a.d;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** Half away from zero to so many decimals. */
export function rounded({ n, d }: Fraction, decimals: number): Fraction {
  const unit = 10n ** BigInt(decimals);
  const magnitude = n < 0n ? -n : n;
  const whole = (2n * magnitude * unit + d) / (2n * d);
  return { n: n < 0n ? -whole : whole, d: unit };
}

/** What is kept of a number: 15 decimals. §1.1 N3 */
export const kept = (text: string): Fraction => rounded(fraction(text), 15);

/** Plain notation without trailing zeros of a fraction that ends. */
export function plain({ n, d }: Fraction, longest = 120): string {
  const unit = 10n ** BigInt(longest);
  const scaled = (n < 0n ? -n : n) * unit;
  if (scaled % d !== 0n) throw new Error(`${n}/${d} has more than ${longest} decimals`);
  const digits = (scaled / d).toString().padStart(longest + 1, '0');
  const text = `${digits.slice(0, -longest)}.${digits.slice(-longest)}`.replace(/\.?0+$/, '');
  return n < 0n && text !== '0' ? `-${text}` : text;
}

/** With exactly so many decimals, as invoices show money. */
export function fixed(value: Fraction, decimals: number): string {
  const [whole, digits = ''] = plain(value).split('.');
  return decimals === 0 ? whole! : `${whole}.${digits.padEnd(decimals, '0')}`;
}

const currencyDecimals: Record<string, number> = { jpy: 0, vnd: 0, krw: 0, clp: 0, kwd: 3, clf: 4 };

/** §1.1: decimals of a currency. */
export function decimalsOf(currency: string): number {
  return currencyDecimals[currency] ?? 2;
}

/** §4.3: what a quantity costs, exactly. */
export function oracleCost(price: OraclePrice, quantity: string): Fraction {
  const q = kept(quantity);
  if (q.n === 0n) return nothing;
  if (price.billing_model === 'FLAT_FEE') return times(kept(price.amount!), q);
  if (price.billing_model === 'PERCENTAGE') return over(times(q, kept(price.percentage_rate!)), fraction('100'));
  if (price.billing_model === 'PACKAGE') return times(kept(price.amount!), packagesOf(price, q));
  return price.tier_mode === 'SLAB' ? slabs(price, q) : volume(price, q);
}

/** §4.5: the cost in the currency of the price; of a custom one times its rate. */
export function oracleFiatCost(price: OraclePrice, quantity: string): Fraction {
  const cost = oracleCost(price, quantity);
  return price.price_unit ? times(cost, kept(price.price_unit.rate)) : cost;
}

/** §4.4: every bucket on its own. */
export function oracleBucketedCost(price: OraclePrice, values: readonly string[]): Fraction {
  return values.map((value) => oracleCost(price, value)).reduce(plus, nothing);
}

/** §4.3: the line amount, after a share of a full period if there is one. N5: rounded once. */
export function oracleLineAmount(price: OraclePrice, cost: Fraction, share: Fraction = { n: 1n, d: 1n }): string {
  const decimals = decimalsOf(price.currency);
  return fixed(rounded(times(cost, share), decimals), decimals);
}

/** §4.3, N4: cost ÷ quantity to 15 decimals, 0 for nothing. */
export function oracleUnitCost(cost: Fraction, quantity: string): string {
  const q = kept(quantity);
  return q.n === 0n ? '0' : plain(rounded(over(cost, q), 15));
}

/** §4.2: the quantity of a fixed line. */
export function oracleQuantity(minimum: string | null, requested: string | null): string {
  if (requested !== null) return plain(kept(requested));
  return minimum === null || kept(minimum).n === 0n ? '1' : plain(kept(minimum));
}

/** §8.4 with one reset window: what an allowance leaves of a usage. */
export function oracleBillable(limit: string | null, usage: string): string {
  if (limit === null) return '0';
  const rest = minus(kept(usage), fraction(limit));
  return rest.n > 0n ? plain(rest) : '0';
}

function packagesOf(price: OraclePrice, q: Fraction): Fraction {
  const { divide_by, round } = price.transform_quantity!;
  const { n, d } = over(q, fraction(String(divide_by)));
  return { n: round === 'down' ? n / d : (n + d - 1n) / d, d: 1n };
}

interface OracleTier {
  /** Null: without an end. */
  end: Fraction | null;
  unit: Fraction;
  flat: Fraction;
}

/** Ascending, the last one without an end whatever it says. */
function tiersOf(price: OraclePrice): OracleTier[] {
  const tiers = price.tiers!.map(({ up_to, unit_amount, flat_amount }) => ({
    end: up_to ? kept(up_to) : null,
    unit: kept(unit_amount),
    flat: kept(flat_amount ?? '0'),
  }));
  tiers.sort((a, b) => (a.end && b.end ? compare(a.end, b.end) : a.end ? -1 : 1));
  return tiers.map((tier, index) => (index === tiers.length - 1 ? { ...tier, end: null } : tier));
}

function volume(price: OraclePrice, q: Fraction): Fraction {
  const tier = tiersOf(price).find(({ end }) => end === null || compare(q, end) <= 0)!;
  return plus(times(q, tier.unit), tier.flat);
}

function slabs(price: OraclePrice, q: Fraction): Fraction {
  let cost = nothing;
  let begin = nothing;
  for (const { end, unit, flat } of tiersOf(price)) {
    const reached = end !== null && compare(end, q) < 0 ? end : q;
    const part = minus(reached, begin);
    if (part.n <= 0n) break;
    cost = plus(cost, plus(times(part, unit), flat));
    begin = reached;
  }
  return cost;
}
