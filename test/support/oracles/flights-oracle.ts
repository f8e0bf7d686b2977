import { readFileSync } from 'node:fs';

/**
 * What the demo's airports must be billed, worked out from the file by arithmetic of its own: whole numbers of hundredths of
 * a cent, months as they stand in the file's local times, and none of the product's functions or of the demo's tables.
 */
export interface ExpectedInvoice {
  reason: 'SUBSCRIPTION_CREATE' | 'SUBSCRIPTION_CYCLE';
  start: string;
  end: string;
  discount: string;
  tax: string;
  total: string;
  lines: ExpectedLine[];
}

export interface ExpectedLine {
  price: 'base' | 'miles' | 'departures' | 'late';
  /** What is charged. */
  quantity: string;
  /** What the free allowance took away. */
  forgiven: string;
  amount: string;
  start: string;
  end: string;
}

interface Month {
  departures: bigint;
  miles: bigint;
  late: bigint;
}

/** Hours behind UTC in winter time, which all of them kept until April the 1st 2001, 02:00. */
const hoursBehind: Record<string, number> = {
  ...hours(5, 'ATL BOS BWI CLE CLT CVG DCA DTW EWR FLL IAD JFK LGA MCO MIA PHL PIT TPA'),
  ...hours(6, 'BNA DFW HOU IAH MCI MDW MEM MSP MSY ORD STL'),
  ...hours(7, 'DEN PHX SLC'),
  ...hours(8, 'LAS LAX OAK PDX SAN SEA SFO SJC'),
};

function hours(behind: number, codes: string): Record<string, number> {
  return Object.fromEntries(codes.split(' ').map((code) => [code, behind]));
}

/** The invoices of the 40 airports with most departures, by airport code, busiest first. */
export function expectedInvoices(): Map<string, ExpectedInvoice[]> {
  const rows = JSON.parse(readFileSync('node_modules/vega-datasets/data/flights-20k.json', 'utf8')) as {
    date: string;
    delay: number;
    distance: number;
    origin: string;
  }[];
  const months = new Map<string, Month[]>();
  for (const { origin, date, distance, delay } of rows) {
    const ofAirport = months.get(origin) ?? [1, 2, 3].map(() => ({ departures: 0n, miles: 0n, late: 0n }));
    months.set(origin, ofAirport);
    const month = ofAirport[Number(date.slice(5, 7)) - 1]!;
    month.departures += 1n;
    month.miles += BigInt(distance);
    if (delay > 15) month.late += 1n;
  }
  const departures = (ofAirport: Month[]) => ofAirport.reduce((sum, month) => sum + Number(month.departures), 0);
  const busiest = [...months].sort((a, b) => departures(b[1]) - departures(a[1]) || a[0].localeCompare(b[0]));
  return new Map(
    busiest.slice(0, 40).map(([code, ofAirport], place) => [code, invoicesOf(code, ofAirport, place % 4 === 1)]),
  );
}

/** The coupon takes 15 % off what January and February cost, fees and usage, wherever it is invoiced. */
function invoicesOf(code: string, months: Month[], hasCoupon: boolean): ExpectedInvoice[] {
  const off = hasCoupon ? 15n : 0n;
  const couponEnds = new Date(Date.UTC(2001, 2, 1)).toISOString();
  const behind = hoursBehind[code];
  if (behind === undefined) throw new Error(`the oracle does not know the clock of ${code}`);
  // Only the end of April's fee lies in summer time, which Arizona does not have.
  const summerHour = (month: number) => (month === 4 && code !== 'PHX' ? 1 : 0);
  const firstOf = (month: number) => new Date(Date.UTC(2001, month, 1, behind - summerHour(month))).toISOString();
  const fee = (month: number): ExpectedLine => ({
    price: 'base',
    quantity: '1',
    forgiven: '0',
    amount: money(250_0000n),
    start: firstOf(month),
    end: firstOf(month + 1),
  });
  const opening = invoice('SUBSCRIPTION_CREATE', firstOf(0), firstOf(1), [fee(0)], off, couponEnds);
  const cycles = months.map((month, index) =>
    invoice(
      'SUBSCRIPTION_CYCLE',
      firstOf(index),
      firstOf(index + 1),
      [fee(index + 1), ...usageLines(month, firstOf(index), firstOf(index + 1))],
      off,
      couponEnds,
    ),
  );
  return [opening, ...cycles];
}

function usageLines({ miles, departures, late }: Month, start: string, end: string): ExpectedLine[] {
  const first = min(miles, 25_000n);
  const second = min(miles, 100_000n) - first;
  const third = miles - first - second;
  const free = min(departures, 50n);
  const packages = (late + 9n) / 10n;
  const line = (price: ExpectedLine['price'], quantity: bigint, forgiven: bigint, cost: bigint): ExpectedLine => ({
    price,
    quantity: String(quantity),
    forgiven: String(forgiven),
    amount: money(cost),
    start,
    end,
  });
  return [
    line('miles', miles, 0n, first * 125n + second * 95n + third * 65n),
    line('departures', departures - free, free, (departures - free) * 1_7500n),
    line('late', late, 0n, packages * 40_0000n),
  ];
}

function invoice(
  reason: ExpectedInvoice['reason'],
  start: string,
  end: string,
  lines: ExpectedLine[],
  percentOff: bigint,
  couponEnds: string,
): ExpectedInvoice {
  const centsOf = (some: ExpectedLine[]) => some.reduce((sum, { amount }) => sum + BigInt(amount.replace('.', '')), 0n);
  const cents = centsOf(lines);
  const covered = centsOf(lines.filter((line) => line.start < couponEnds));
  const discount = (covered * percentOff + 50n) / 100n;
  const tax = ((cents - discount) * 825n + 5_000n) / 10_000n;
  const amounts = { discount: money(discount * 100n), tax: money(tax * 100n) };
  return { reason, start, end, ...amounts, total: money((cents - discount + tax) * 100n), lines };
}

/** Hundredths of a cent, rounded to whole cents, half up, as dollars with two decimals. */
function money(hundredthsOfCents: bigint): string {
  const cents = String((hundredthsOfCents + 50n) / 100n).padStart(3, '0');
  return `${cents.slice(0, -2)}.${cents.slice(-2)}`;
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
