import { expect, test } from 'vitest';
import { computeInvoice, type InvoiceAmounts } from '../../../../billing/invoice/invoice.ts';
import type { InvoiceInput } from '../../../../billing/invoice/invoice-input.ts';
import { type OracleInvoice, oracleAmounts } from '../../../support/oracles/invoice-oracle.ts';

/** A hundred thousand invoices, in parts that each take a fraction of a second. */
const parts = 100;
const invoicesAPart = 1_000;
const seeds = Array.from({ length: parts }, (_, part) => 20_261_122 + part);
const currencies = [
  ['usd', 2],
  ['jpy', 0],
  ['kwd', 3],
  ['clf', 4],
] as const;

/** Numbers that look random and are the same in every run. */
function randomSource(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

interface Case {
  currency: string;
  given: OracleInvoice;
}

function invoiceCase(random: (below: number) => number): Case {
  const [currency, digits] = currencies[random(4) === 0 ? random(4) : 0]!;
  const several = (most: number) => Array.from({ length: random(most + 1) });
  const lines = Array.from({ length: 1 + random(6) }, () => ({
    // One in six is negative; half of them have digits that must be rounded, many of those exactly in the middle.
    amount:
      BigInt(random(random(3) === 0 ? 100 : 1_000_000)) *
      [1_000_000n, 10_000n, 5_000n, 1n][random(4)]! *
      (random(6) === 0 ? -1n : 1n),
    isUsage: random(2) === 0,
  }));
  const percentage = () => [BigInt(random(10_001)), 1_000n, 3_333n, 10_000n][random(4)]!;
  const coupons = several(3).map(() => {
    const isFixed = random(2) === 0;
    const covers = lines.flatMap((_, line) => (random(2) === 0 ? [line] : []));
    return {
      line: random(2) === 0 ? random(lines.length) : null,
      ...(random(3) === 0 ? { covers } : {}),
      percentage: isFixed ? null : percentage(),
      amountOff: isFixed ? BigInt(random(50_000)) : null,
    };
  });
  const taxes = several(3).map(() => ({ percentage: BigInt(random(2_501)), isInclusive: random(2) === 0 }));
  const wallets = several(2).map(() => BigInt(random(200_000)));
  return { currency, given: { digits, lines, coupons, wallets, taxes, isExempt: random(20) === 0 } };
}

/** Whole units of 10^-digits as a decimal. */
function text(value: bigint, digits: number): string {
  const positive = (value < 0n ? -value : value).toString().padStart(digits + 1, '0');
  const whole = positive.slice(0, positive.length - digits);
  return `${value < 0n ? '-' : ''}${whole}${digits === 0 ? '' : `.${positive.slice(positive.length - digits)}`}`;
}

function inputOf({ currency, given }: Case): InvoiceInput {
  const { digits } = given;
  return {
    currency,
    lines: given.lines.map(({ amount, isUsage }, index) => ({
      id: `line ${index}`,
      amount: text(amount, 6),
      priceType: isUsage ? 'USAGE' : 'FIXED',
    })),
    coupons: given.coupons.map((coupon, index) => ({
      id: `coupon ${index}`,
      lineId: coupon.line === null ? null : `line ${coupon.line}`,
      ...(coupon.covers === undefined ? {} : { lineIds: coupon.covers.map((line) => `line ${line}`) }),
      type: coupon.percentage === null ? 'fixed' : 'percentage',
      amountOff: coupon.amountOff === null ? null : text(coupon.amountOff, digits),
      percentageOff: coupon.percentage === null ? null : text(coupon.percentage, 2),
    })),
    wallets: given.wallets.map((allowance, index) => ({ id: `wallet ${index}`, allowance: text(allowance, digits) })),
    taxes: given.taxes.map((tax, index) => ({
      id: `tax ${index}`,
      percentage: text(tax.percentage, 2),
      taxBehavior: tax.isInclusive ? 'inclusive' : 'exclusive',
    })),
    taxExempt: given.isExempt,
  };
}

/** What both compute, in one line, so that a hundred thousand comparisons stay cheap. */
function shown(result: InvoiceAmounts): string {
  const { subtotal, totalDiscount, taxableAmount, inclusiveTax, exclusiveTax, total, amountDue } = result;
  return [
    ...result.lines.map((line) =>
      [line.amount, line.lineItemDiscount, line.invoiceLevelDiscount, line.prepaidCreditsApplied].join(' '),
    ),
    result.taxes.map(({ taxAmount }) => taxAmount).join(' '),
    [subtotal, totalDiscount, taxableAmount, inclusiveTax, exclusiveTax, total, amountDue].join(' '),
  ].join(' | ');
}

function expected({ given }: Case): string {
  const amounts = oracleAmounts(given);
  const money = (value: bigint) => text(value, given.digits);
  const { subtotal, discount, taxable, inclusive, exclusive, total } = amounts;
  return [
    ...amounts.amounts.map((amount, line) =>
      [amount, amounts.lineDiscounts[line]!, amounts.shares[line]!, amounts.credits[line]!].map(money).join(' '),
    ),
    amounts.taxes.map(money).join(' '),
    [subtotal, discount, taxable, inclusive, exclusive, total, total].map(money).join(' '),
  ].join(' | ');
}

/** An amount of a result in minor units. */
const units = (value: string): bigint => BigInt(value.replace('.', ''));
const sumOf = (values: readonly string[]): bigint => values.reduce((all, value) => all + units(value), 0n);

/** The properties that hold of every invoice, whatever computed it. */
function brokenProperty(input: InvoiceInput, result: InvoiceAmounts): string | null {
  const { lines } = result;
  const subtotal = units(result.subtotal);
  const discounts = sumOf(lines.flatMap((line) => [line.lineItemDiscount, line.invoiceLevelDiscount]));
  const credits = units(result.totalPrepaidCreditsApplied);
  const rest = subtotal - units(result.totalDiscount);
  const hasRoom = lines.some((line) => units(line.amount) > units(line.lineItemDiscount));
  const due = rest - credits + units(result.exclusiveTax);
  const rules: [string, boolean][] = [
    ['subtotal is the sum of the lines', sumOf(lines.map((line) => line.amount)) === subtotal],
    ['allocation loses nothing', !hasRoom || discounts === units(result.totalDiscount)],
    [
      'discounts are what the coupons took',
      sumOf(result.couponApplications.map((row) => row.discountedAmount)) === units(result.totalDiscount),
    ],
    ['credits are those of the wallets', sumOf(result.walletUses.map((use) => use.amount)) === credits],
    ['credits do not pay more than is left', credits <= (rest > 0n ? rest : 0n)],
    ['total adds up', units(result.total) === (due > 0n ? due : 0n)],
    ['tax is the sum of its rows', sumOf(result.taxes.map((row) => row.taxAmount)) === units(result.totalTax)],
    [
      'nothing is below zero',
      ![result.total, result.amountDue, result.amountRemaining, result.totalTax].some((value) => value.startsWith('-')),
    ],
    [
      'no share is below zero',
      !lines.some((line) =>
        [line.lineItemDiscount, line.invoiceLevelDiscount, line.prepaidCreditsApplied].some((value) =>
          value.startsWith('-'),
        ),
      ),
    ],
    ['a reason stands where no tax row does', (result.taxes.length === 0) === (result.noTaxReason !== null)],
    [
      'a line is not discounted below zero',
      lines.every(
        (line) =>
          units(line.amount) <= 0n ||
          units(line.lineItemDiscount) + units(line.invoiceLevelDiscount) + units(line.prepaidCreditsApplied) <=
            units(line.amount),
      ),
    ],
    ['the currency is that of the input', input.lines.length === lines.length],
  ];
  return rules.find(([, holds]) => !holds)?.[0] ?? null;
}

test.each(seeds)('the pipeline agrees with an independent computation, and every invoice adds up: seed %i', (seed) => {
  const random = randomSource(seed);
  const differing: string[] = [];
  for (let index = 0; index < invoicesAPart && differing.length < 3; index += 1) {
    const one = invoiceCase(random);
    const input = inputOf(one);
    const result = computeInvoice(input);
    const broken = brokenProperty(input, result);
    if (shown(result) !== expected(one)) differing.push(`${JSON.stringify(input)}\n${shown(result)}\n${expected(one)}`);
    if (broken) differing.push(`${broken}: ${JSON.stringify(input)}\n${shown(result)}`);
  }
  expect(differing).toEqual([]);
});

test.each(seeds.slice(0, 4))(
  'the order of lines changes no total and no line with a net of its own: seed %i',
  (seed) => {
    const random = randomSource(seed);
    for (let index = 0; index < 250; index += 1) {
      const input = inputOf(invoiceCase(random));
      // Credits are spent in line order by rule; everything else must not depend on it.
      const plain = { ...input, wallets: [] };
      const turned = { ...plain, lines: [...plain.lines].reverse() };
      const [one, other] = [computeInvoice(plain), computeInvoice(turned)];
      const totals = ({ lines: _lines, couponApplications: _applications, ...rest }: InvoiceAmounts) => rest;
      expect(totals(other)).toEqual(totals(one));
      const nets = new Map(one.lines.map((line) => [line.id, units(line.amount) - units(line.lineItemDiscount)]));
      const isAlone = (id: string) => [...nets.values()].filter((net) => net === nets.get(id)).length === 1;
      const own = (amounts: InvoiceAmounts) =>
        amounts.lines.filter(({ id }) => isAlone(id)).sort((a, b) => (a.id < b.id ? -1 : 1));
      expect(own(other)).toEqual(own(one));
    }
  },
);
