import { describe, expect, test } from 'vitest';
import { amountOfRazorpay, razorpayAmount, refuseTooLittle } from '../../../integrations/razorpay/amount.ts';

describe('finding A7: amounts of Razorpay', () => {
  test.each([
    ['12.5', 'inr', 1250],
    ['12.50', 'INR', 1250],
    ['0.07', 'usd', 7],
    ['10000', 'xaf', 10000],
    ['500', 'jpy', 500],
    ['7', 'ugx', 7],
    ['1000', 'isk', 1000],
    ['5.25', 'mga', 525],
    ['295.99', 'kwd', 295990],
    ['0.5', 'bhd', 500],
    ['1.23', 'iqd', 1230],
    ['90071992547409.91', 'inr', 9007199254740991],
  ])('%s %s is %s', (amount, currency, minor) => {
    expect(razorpayAmount(amount, currency)).toBe(minor);
    expect(Number(amountOfRazorpay(minor, currency))).toBe(Number(amount));
  });

  test.each([
    ['295.991', 'kwd'],
    ['0.005', 'usd'],
    ['1.5', 'jpy'],
    ['1.5', 'isk'],
    ['5.5', 'ugx'],
    ['1', 'clf'],
    ['1', 'lyd'],
    ['90071992547409.92', 'inr'],
  ])('%s %s is refused by name', (amount, currency) => {
    expect(() => razorpayAmount(amount, currency)).toThrow(/razorpay/);
  });

  test('less than Razorpay takes is refused by name', () => {
    expect(() => refuseTooLittle('0.99', 'INR')).toThrow(/razorpay takes 1 inr or more/i);
    expect(() => refuseTooLittle('0.009', 'usd')).toThrow('0.01 usd or more');
    refuseTooLittle('1', 'inr');
  });
});
