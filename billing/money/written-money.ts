import { currencySymbol, decimal, moneyString } from './money.ts';

/** An amount as people write it: `€1,234.50`, `-$3.00`, `CHF 12.00`; exact, whatever its size. spec: catalogue-and-metering §1.1 */
export function writtenMoney(amount: string, currency: string): string {
  const value = decimal(amount);
  const digits = groupedDigits(moneyString(value.abs(), currency));
  const symbol = currencySymbol(currency);
  const sign = value.isNegative() && !value.isZero() ? '-' : '';
  return /[A-Za-z]$/.test(symbol) ? `${sign}${symbol} ${digits}` : `${sign}${symbol}${digits}`;
}

/** A plain decimal with its thousands apart: `12345.6` is `12,345.6`. */
export function groupedDigits(plain: string): string {
  const [whole = '', fraction] = plain.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}
