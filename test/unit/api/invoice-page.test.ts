import { describe, expect, it } from 'vitest';
import { countryCode, countryName } from '../../../api/invoice/document/country.ts';
import { invoicePage } from '../../../api/invoice/document/invoice-page.ts';

type Source = Parameters<typeof invoicePage>[0];

const coupon = (name: string, discountedAmount: string, percentage: string | null = null) => ({
  couponId: `coupon_${name}`,
  couponSnapshot: { name },
  discountType: percentage === null ? 'fixed' : 'percentage',
  discountPercentage: percentage,
  originalPrice: '100',
  discountedAmount,
});

/** The page of an invoice of 100 in euros, of which `totalDiscount` was taken off. */
function pageOf(totalDiscount: string, coupons: object[]) {
  const row = { currency: 'eur', subtotal: '100', totalDiscount, total: '84', amountDue: '84', amountRemaining: '84' };
  const none = {
    totalPrepaidCreditsApplied: '0',
    taxedCreditsApplied: '0',
    adjustmentAmount: '0',
    amountPaid: '0',
    refundedAmount: '0',
  };
  const customer = { name: 'Beispiel AG', addressCity: 'Wien', addressCountry: 'at' };
  const invoice = { row: { ...row, ...none, invoiceStatus: 'FINALIZED' }, lines: [], taxes: [], coupons, customer };
  const config = { accent_color: '#1f4e8c', paper: 'a4', logo: '', footer: '', template_name: 'default', group_by: [] };
  return invoicePage({ invoice, seller: null, config } as unknown as Source);
}

const totalsOf = (page: ReturnType<typeof pageOf>) => page.totals.map(([label, amount]) => [label.text, amount]);

describe('the page of an invoice', () => {
  it('names each coupon as it was called, once, however many lines it took from', () => {
    const page = pageOf('16', [coupon('Welcome', '5', '10'), coupon('Welcome', '1.5', '10'), coupon('Launch', '9.5')]);
    expect(totalsOf(page)).toEqual([
      ['Subtotal', '€100.00'],
      ['Welcome (10 %)', '-€6.50'],
      ['Launch', '-€9.50'],
      ['Total', '€84.00'],
      ['Amount due', '€84.00'],
    ]);
  });

  it('shows what was taken off where no coupon is known, and nothing where nothing was', () => {
    expect(totalsOf(pageOf('16', []))).toContainEqual(['Discount', '-€16.00']);
    expect(totalsOf(pageOf('0', [])).map(([label]) => label)).toEqual(['Subtotal', 'Total', 'Amount due']);
  });

  it('writes out the country of an address', () => {
    expect(pageOf('0', []).customer.lines.map(({ text }) => text)).toEqual(['Wien', 'Austria']);
  });
});

it.each([
  ['de', 'DE', 'Germany'],
  [' JP ', 'JP', 'Japan'],
  ['Deutschland', '', 'Deutschland'],
  ['XZ', '', 'XZ'],
  ['', '', null],
  [null, '', null],
])('the country %j has the code %j and is written %j', (text, code, name) => {
  expect([countryCode(text), countryName(text)]).toEqual([code, name]);
});
