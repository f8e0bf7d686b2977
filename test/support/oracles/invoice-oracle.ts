/**
 * The amount pipeline of an invoice once more, by somebody who knows only the chapter: whole minor units in bigints, no decimal
 * library, no code of `billing/`. spec: subscriptions-and-invoicing §2.16, §2.18.3
 */
export interface OracleInvoice {
  digits: number;
  /** Amounts in millionths of a major unit. */
  lines: { amount: bigint; isUsage: boolean }[];
  /** Percentages in hundredths of a percent, fixed amounts in minor units. */
  coupons: {
    line: number | null;
    percentage: bigint | null;
    amountOff: bigint | null;
    /** The lines an invoice coupon covers; absent: all. */
    covers?: readonly number[];
  }[];
  wallets: bigint[];
  taxes: { percentage: bigint; isInclusive: boolean }[];
  isExempt: boolean;
}

export interface OracleAmounts {
  amounts: bigint[];
  lineDiscounts: bigint[];
  shares: bigint[];
  credits: bigint[];
  subtotal: bigint;
  discount: bigint;
  taxable: bigint;
  taxes: bigint[];
  inclusive: bigint;
  exclusive: bigint;
  total: bigint;
}

const wholePercent = 10_000n;

/** A quotient rounded half away from zero; the divisor is above zero. */
export function rounded(numerator: bigint, divisor: bigint): bigint {
  const positive = numerator < 0n ? -numerator : numerator;
  const quotient = (2n * positive + divisor) / (2n * divisor);
  return numerator < 0n ? -quotient : quotient;
}

const add = (values: readonly bigint[]): bigint => values.reduce((all, value) => all + value, 0n);
const low = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const high = (a: bigint, b: bigint): bigint => (a > b ? a : b);

export function oracleAmounts(invoice: OracleInvoice): OracleAmounts {
  const minor = 10n ** BigInt(6 - invoice.digits);
  const amounts = invoice.lines.map((line) => rounded(line.amount, minor));
  const subtotal = add(amounts);
  const lineDiscounts = amounts.map((amount, line) => discountOfLine(amount, line, invoice));
  const nets = amounts.map((amount, line) => amount - lineDiscounts[line]!);
  const shares = sharesOfCoupons(nets, invoice);
  const ofInvoice = add(shares);
  const discount = add(lineDiscounts) + ofInvoice;
  const taxable = high(subtotal - discount, 0n);
  const credits = creditsOf(
    invoice,
    nets.map((net, line) => net - shares[line]!),
    taxable,
  );
  const tax = taxesOf(invoice, taxable);
  return {
    amounts,
    lineDiscounts,
    shares,
    credits,
    subtotal,
    discount,
    taxable,
    ...tax,
    total: high(subtotal - discount - add(credits) + tax.exclusive, 0n),
  };
}

function taking(base: bigint, coupon: OracleInvoice['coupons'][number]): bigint {
  return coupon.percentage === null ? (coupon.amountOff ?? 0n) : rounded(base * coupon.percentage, wholePercent);
}

function discountOfLine(amount: bigint, line: number, { coupons }: OracleInvoice): bigint {
  if (amount <= 0n) return 0n;
  let taken = 0n;
  for (const coupon of coupons) {
    if (coupon.line === line) taken += low(taking(amount, coupon), amount - taken);
  }
  return taken;
}

/** Decision 43: a coupon takes of the lines it covers; neighbours that cover the same lines are distributed together. */
function sharesOfCoupons(nets: readonly bigint[], { coupons }: OracleInvoice): bigint[] {
  const shares = nets.map(() => 0n);
  const ofInvoice = coupons.filter(({ line }) => line === null);
  const coveredBy = ({ covers }: (typeof ofInvoice)[number]) => nets.map((_, line) => covers?.includes(line) ?? true);
  for (let first = 0; first < ofInvoice.length; ) {
    const covered = coveredBy(ofInvoice[first]!);
    const left = nets.map((net, line) => (covered[line] ? net - shares[line]! : 0n));
    let running = add(left);
    let whole = 0n;
    for (; first < ofInvoice.length && `${coveredBy(ofInvoice[first]!)}` === `${covered}`; first += 1) {
      const base = high(running, 0n);
      const taken = low(taking(base, ofInvoice[first]!), base);
      running -= taken;
      whole += taken;
    }
    for (const [line, share] of sharesOf(left, whole).entries()) shares[line] = shares[line]! + share;
  }
  return shares;
}

/** The largest net first; each its rounded part, the last the rest, and what that cannot hold back to the others in order. */
function sharesOf(nets: readonly bigint[], whole: bigint): bigint[] {
  const shares = nets.map(() => 0n);
  const order = nets.flatMap((net, line) => (net > 0n ? [line] : []));
  order.sort((a, b) => (nets[a] === nets[b] ? a - b : nets[a]! > nets[b]! ? -1 : 1));
  const all = add(order.map((line) => nets[line]!));
  let left = whole;
  for (const [rank, line] of order.entries()) {
    const wanted = rank + 1 === order.length ? left : rounded(nets[line]! * whole, all);
    shares[line] = low(low(wanted, nets[line]!), left);
    left -= shares[line]!;
  }
  for (const line of order) {
    const more = low(left, nets[line]! - shares[line]!);
    shares[line] = shares[line]! + more;
    left -= more;
  }
  return shares;
}

function creditsOf(invoice: OracleInvoice, nets: readonly bigint[], ceiling: bigint): bigint[] {
  const left = [...invoice.wallets];
  let room = ceiling;
  return invoice.lines.map(({ isUsage }, line) => {
    let need = isUsage ? high(nets[line]!, 0n) : 0n;
    let paid = 0n;
    for (const wallet of left.keys()) {
      const use = low(low(left[wallet]!, need), room);
      left[wallet] = left[wallet]! - use;
      need -= use;
      room -= use;
      paid += use;
    }
    return paid;
  });
}

function taxesOf({ taxes, isExempt }: OracleInvoice, taxable: bigint) {
  if (isExempt || taxable === 0n) return { taxes: [] as bigint[], inclusive: 0n, exclusive: 0n };
  const extracted = taxes.filter(({ isInclusive }) => isInclusive);
  const percentages = add(extracted.map(({ percentage }) => percentage));
  const inclusive = rounded(taxable * percentages, wholePercent + percentages);
  const base = taxable - inclusive;
  let left = inclusive;
  const rows = taxes.map((tax) => {
    if (!tax.isInclusive) return rounded(base * tax.percentage, wholePercent);
    const isLast = tax === extracted[extracted.length - 1];
    const part = isLast || percentages === 0n ? left : low(rounded(inclusive * tax.percentage, percentages), left);
    left -= part;
    return part;
  });
  return { taxes: rows, inclusive, exclusive: add(rows.filter((_row, index) => !taxes[index]!.isInclusive)) };
}
