import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createPriceBody, newPrice } from '../../../api/catalogue/price-input.schema.ts';
import { decimalString, moneyString, roundToCurrency } from '../../../billing/money/money.ts';
import { costOfBuckets, costOfQuantity, defaultQuantity } from '../../../billing/price/price.ts';
import type { PriceTerms } from '../../../billing/price/price-terms.ts';
import { checkPrice, pricingTerms } from '../../../services/catalogue/price/price-rules.ts';
import { at, invoice, item, linesOf, usageItem } from './line/charge-fixture.ts';
import {
  oracleBillable,
  oracleBucketedCost,
  oracleCost,
  oracleFiatCost,
  oracleLineAmount,
  oracleQuantity,
  plain,
} from './rating-oracle.ts';

/* Every worked example of docs/pricing.md: a price in JSON, and below it a table of what it costs. */

interface Example {
  section: string;
  price: Record<string, unknown>;
  columns: string[];
  rows: string[][];
}

const cells = (row: string): string[] =>
  row
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());

function readExamples(): Example[] {
  const page = readFileSync('docs/pricing.md', 'utf8');
  const found = page.matchAll(/```json\n([\s\S]*?)```\n\n((?:\|.*\|\n)+)/g);
  return [...found].map(([, json = '', table = '', ...rest], index) => {
    const section =
      page
        .slice(0, page.indexOf(json))
        .match(/^(?:## |\*\*)[^\n*]+/gm)
        ?.at(-1) ?? String(rest);
    const [head = '', , ...rows] = table.trim().split('\n');
    return { section: `${index + 1} ${section}`, price: JSON.parse(json), columns: cells(head), rows: rows.map(cells) };
  });
}

const common = { plan_id: 'plan_x', type: 'FIXED', billing_period: 'MONTHLY', invoice_cadence: 'ADVANCE' };

/** The price as the rules of creation leave it. */
function termsOf(price: Record<string, unknown>): PriceTerms {
  const input = newPrice(createPriceBody.parse({ ...common, ...price }));
  checkPrice(input);
  const { billingModel, amount, tierMode, tiers, transformQuantity, percentageRate } = pricingTerms(input);
  return {
    billing_model: billingModel as PriceTerms['billing_model'],
    currency: input.currency,
    amount,
    tier_mode: tierMode as 'VOLUME' | 'SLAB' | null,
    tiers,
    transform_quantity: transformQuantity,
    percentage_rate: percentageRate,
  };
}

type Row = Record<string, string>;

/** What the words of a table's head mean: the columns that follow from the others, computed twice. */
const readings: Record<string, (price: Record<string, unknown>, row: Row) => [product: Row, oracle: Row]> = {
  'Quantity, Cost, Line amount': (price, { Quantity: quantity = '' }) => {
    const terms = termsOf(price);
    const { cost } = costOfQuantity(terms, quantity);
    const expected = oracleCost(terms, quantity);
    return [
      { Cost: decimalString(cost), 'Line amount': moneyString(roundToCurrency(cost, terms.currency), terms.currency) },
      { Cost: plain(expected), 'Line amount': oracleLineAmount(terms, expected) },
    ];
  },
  'Requested, Billed quantity, Line amount': (price, { Requested: text = '' }) => {
    const terms = termsOf(price);
    const minimum = String(price.min_quantity);
    const requested = text === '–' ? null : text;
    const quantity = defaultQuantity('FIXED', minimum, requested);
    const [line] = linesOf(invoice([item('fee', { price: terms, quantity })]));
    const counted = oracleQuantity(minimum, requested);
    return [
      { 'Billed quantity': line!.quantity, 'Line amount': line!.amount },
      { 'Billed quantity': counted, 'Line amount': oracleLineAmount(terms, oracleCost(terms, counted)) },
    ];
  },
  'Used, Included, Billed quantity, Line amount': (price, { Used: used = '', Included: included = '' }) => {
    const terms = termsOf(price);
    const usageLimit = included === 'unlimited' ? null : included;
    const allowances = { meter: { usageLimit, usageResetPeriod: null } };
    const [line] = linesOf(invoice([usageItem('calls', { price: terms })], { allowances }), () => used);
    const billable = oracleBillable(usageLimit, used);
    return [
      { 'Billed quantity': line!.quantity, 'Line amount': line!.amount },
      { 'Billed quantity': billable, 'Line amount': oracleLineAmount(terms, oracleCost(terms, billable)) },
    ];
  },
  'Buckets, Cost, Line amount': (price, { Buckets: list = '' }) => {
    const terms = termsOf(price);
    const values = list.split(', ');
    const { cost } = costOfBuckets(terms, values);
    const expected = oracleBucketedCost(terms, values);
    return [
      { Cost: decimalString(cost), 'Line amount': moneyString(roundToCurrency(cost, terms.currency), terms.currency) },
      { Cost: plain(expected), 'Line amount': oracleLineAmount(terms, expected) },
    ];
  },
  'Quantity, Rate, Cost, Line amount': (price, { Quantity: quantity = '', Rate: rate = '' }) => {
    const { price_unit_type: _, price_unit_config: config, ...rest } = price;
    checkPrice(newPrice(createPriceBody.parse({ ...common, ...price })));
    const { amount } = config as { amount: string };
    const terms = { ...termsOf({ ...rest, amount }), price_unit: { id: 'unit', code: 'tok', rate } };
    const [line] = linesOf(invoice([item('fee', { price: terms, quantity })]));
    const expected = oracleFiatCost(terms, quantity);
    return [
      { Cost: line!.derivation.parts[0]!.cost, 'Line amount': line!.amount },
      { Cost: plain(expected), 'Line amount': oracleLineAmount(terms, expected) },
    ];
  },
  'Days, Of, Line amount': (price, { Days: days = '', Of: of = '' }) => {
    const terms = termsOf(price);
    expect(of).toBe('28');
    const startDate = new Date(Date.parse(at('2026-03-01')) - Number(days) * 86_400_000).toISOString();
    const [line] = linesOf(invoice([item('fee', { price: terms, invoiceCadence: 'ARREAR', startDate })]));
    const share = { n: BigInt(days), d: BigInt(of) };
    return [{ 'Line amount': line!.amount }, { 'Line amount': oracleLineAmount(terms, oracleCost(terms, '1'), share) }];
  },
};

const examples = readExamples();

test('the page has an example of every model and modifier', () => {
  expect(examples.length).toBeGreaterThanOrEqual(9);
  const models = new Set(examples.map(({ price }) => `${price.billing_model} ${price.tier_mode ?? ''}`.trim()));
  expect([...models].sort()).toEqual(['FLAT_FEE', 'PACKAGE', 'PERCENTAGE', 'TIERED SLAB', 'TIERED VOLUME']);
});

describe.each(examples)('$section', ({ price, columns, rows }) => {
  test.each(rows)('%s', (...row) => {
    const reading = readings[columns.join(', ')];
    expect(reading, `a table of ${columns.join(', ')}`).toBeDefined();
    const given = Object.fromEntries(columns.map((column, index) => [column, row[index] ?? '']));
    const [product, oracle] = reading!(price, given);
    expect(given).toMatchObject(product);
    expect(given).toMatchObject(oracle);
  });
});
