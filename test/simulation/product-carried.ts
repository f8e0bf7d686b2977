import { creditDestination } from '../../billing/invoice/carried-credit.ts';
import type { InvoiceInputLine } from '../../billing/invoice/invoice-input.ts';
import { decimal, decimalString, moneyString, zero } from '../../billing/money/money.ts';
import type { Period } from '../../billing/subscription/subscription.ts';
import type { SimulatedLine } from './life.ts';
import type { ProductLife } from './product.ts';
import { minor } from './product-line.ts';

/** Amounts that changes left for the next invoice, as the rows of services/invoice/terms/carried-credit.ts keep it. */
export class ProductCarried {
  private readonly life: ProductLife;
  private left = zero;

  constructor(life: ProductLife) {
    this.life = life;
  }

  /** Items that a change at `at` ended have their end by now, and those it began are there. */
  isDestination(at: string): boolean {
    const { life, items } = this.life;
    const hasUsage = items.some(
      ({ item }) => item.priceType === 'USAGE' && (item.endDate === null || item.endDate > at),
    );
    return creditDestination(life.destination, { action: 'quantity_change', hasUsage }) === 'next_invoice';
  }

  give(amount: string): void {
    this.left = this.left.plus(amount);
  }

  line(): InvoiceInputLine {
    return { id: 'credit', amount: '0', priceType: 'FIXED', creditLeft: decimalString(this.left) };
  }

  /** The line as the invoice shows it, if it uses anything. */
  use(line: { amount: string } | undefined, { start, end }: Period): SimulatedLine[] {
    if (!line || decimal(line.amount).isZero()) return [];
    this.left = this.left.plus(line.amount);
    const time = { start: Date.parse(start), end: Date.parse(end) };
    return [{ item: 'credit', ...time, quantity: '1', amount: minor(line.amount) }];
  }

  /** After the last invoice the rest goes to the wallet. */
  release(at: number): void {
    const { result, life } = this.life;
    if (!this.left.isZero()) result.returned.push({ at, amount: minor(moneyString(this.left, life.currency)) });
    this.left = zero;
  }
}
