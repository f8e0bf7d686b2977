import { decimal } from '../money/money.ts';

/** Money as a gateway names it: a plain decimal and a lower-case code. */
export interface CapturedMoney {
  amount: string;
  currency: string;
}

/**
 * Compares captured money with the money that was asked for: `exact` and `more` pay (the excess is overpaid); `less` and
 * `other_currency` never do, and go back whole. design: money-in-checkout §A7
 */
export function measureCapture(
  asked: CapturedMoney,
  captured: CapturedMoney,
): 'exact' | 'more' | 'less' | 'other_currency' {
  if (asked.currency !== captured.currency) return 'other_currency';
  const difference = decimal(captured.amount).comparedTo(decimal(asked.amount));
  if (difference === 0) return 'exact';
  return difference > 0 ? 'more' : 'less';
}
