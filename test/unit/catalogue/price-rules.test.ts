import { describe, expect, it } from 'vitest';
import { refusalIn } from '../../../billing/refusal.ts';
import {
  checkPrice,
  checkTerms,
  isOneTime,
  type NewPrice,
  pricingTerms,
  supersededTerms,
} from '../../../services/catalogue/price/price-rules.ts';

const flat: NewPrice = {
  entityType: 'PLAN',
  entityId: 'plan_x',
  type: 'FIXED',
  billingModel: 'FLAT_FEE',
  billingPeriod: 'MONTHLY',
  invoiceCadence: 'ADVANCE',
  currency: 'usd',
  amount: '1',
};
const openTier = { up_to: null, unit_amount: '1', flat_amount: '0' };

function refusalOf(work: () => void) {
  try {
    work();
  } catch (error) {
    return refusalIn(error);
  }
  return null;
}

describe('checkPrice', () => {
  it.each<[string, Partial<NewPrice>]>([
    ['a flat fee', {}],
    ['a fee of nothing', { amount: '0' }],
    ['a package', { billingModel: 'PACKAGE', transformQuantity: { divide_by: 1, round: 'down' } }],
    ['one open tier', { billingModel: 'TIERED', amount: null, tiers: [openTier] }],
    ['bounded tiers only', { billingModel: 'TIERED', tiers: [{ ...openTier, up_to: '10' }] }],
    ['a percentage', { billingModel: 'PERCENTAGE', amount: null, percentageRate: '2.5' }],
    ['usage', { type: 'USAGE', invoiceCadence: 'ARREAR', meterId: 'meter_x' }],
    ['a one-time fee', { billingCadence: 'ONETIME', billingPeriod: undefined }],
    ['an end at the start', { startDate: '2026-01-01T00:00:00.000Z', endDate: '2026-01-01T00:00:00.000Z' }],
    ['a trial', { trialPeriodDays: 14 }],
  ])('accepts %s', (_name, change) => {
    expect(refusalOf(() => checkPrice({ ...flat, ...change }))).toBeNull();
  });

  it('names the field as the caller wrote it, and what is accepted', () => {
    const refusal = refusalOf(() => checkPrice({ ...flat, type: 'USAGE', meterId: 'meter_x' }, 'items[3].'));
    expect(refusal).toEqual({
      code: 'validation_error',
      message: 'items[3].invoice_cadence must be ARREAR for type USAGE: usage is known only afterwards',
      details: {
        fields: { 'items[3].invoice_cadence': 'must be ARREAR for type USAGE: usage is known only afterwards' },
      },
    });
  });
});

describe('pricingTerms', () => {
  it('prices tiers by VOLUME unless they say SLAB, and gives other models no mode', () => {
    const tiers = [openTier];
    expect(pricingTerms({ billingModel: 'TIERED', tiers }).tierMode).toBe('VOLUME');
    expect(pricingTerms({ billingModel: 'TIERED', tiers, tierMode: 'SLAB' }).tierMode).toBe('SLAB');
    expect(pricingTerms({ billingModel: 'FLAT_FEE', amount: '1', tierMode: 'SLAB' }).tierMode).toBeNull();
  });

  it('gives a tiered price no amount', () => {
    expect(pricingTerms({ billingModel: 'TIERED', amount: '5', tiers: [openTier] }).amount).toBeNull();
  });
});

describe('supersededTerms', () => {
  const stored = pricingTerms({
    billingModel: 'PACKAGE',
    amount: '5',
    transformQuantity: { divide_by: 10, round: 'up' },
  });

  it('keeps what was not sent within a model', () => {
    expect(supersededTerms(stored, { amount: '6' })).toEqual({ ...stored, amount: '6' });
  });

  it('keeps nothing of a model that is left', () => {
    const terms = supersededTerms(stored, { billingModel: 'FLAT_FEE' });
    expect(terms).toMatchObject({ billingModel: 'FLAT_FEE', amount: null, transformQuantity: null });
    expect(refusalOf(() => checkTerms(terms))?.message).toBe('amount is required for FLAT_FEE and PACKAGE');
  });
});

it.each([
  [{ billingCadence: 'ONETIME', billingPeriod: 'MONTHLY' }, true],
  [{ billingPeriod: 'ONETIME' }, true],
  [{ billingCadence: 'RECURRING', billingPeriod: 'MONTHLY' }, false],
])('reads %j as one-time: %s', (price, expected) => {
  expect(isOneTime(price)).toBe(expected);
});
