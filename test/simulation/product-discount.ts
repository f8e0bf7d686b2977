import { type CouponLink, couponAssociationEnd, couponsOfInvoice } from '../../billing/invoice/coupon.ts';
import type { InvoiceCoupon } from '../../billing/invoice/invoice-input.ts';
import type { ChargeLine } from '../../billing/line/charge.ts';
import type { Period } from '../../billing/subscription/subscription.ts';
import type { Cadence } from '../../billing/time/calendar.ts';
import type { Life } from './life.ts';
import { percent } from './product.ts';

/** The coupon of a life as the subscription redeemed it when it was made. */
export class ProductDiscount {
  private readonly currency: string;
  private readonly links: readonly CouponLink[];

  constructor({ discount, discountPeriods, start, currency }: Life, made: Cadence & { startDate: string }) {
    this.currency = currency;
    const cadence = discountPeriods === null ? ('forever' as const) : ('repeated' as const);
    const begins = new Date(start).toISOString();
    const link = {
      associationId: 'coupon',
      couponId: 'coupon',
      type: 'percentage' as const,
      cadence,
      amountOff: null,
      currency: null,
      rules: { minSubtotal: null, planIds: null, priceIds: null, customerIds: null },
      start: begins,
      end: couponAssociationEnd({ ...made, cadence, durationInPeriods: discountPeriods, start: begins }),
      subscriptionLineItemId: null,
      usedBy: [],
    };
    this.links = discount === null ? [] : [{ ...link, percentageOff: percent(discount) }];
  }

  couponsOf(lines: readonly ChargeLine[], period: Period, invoiceType: string): InvoiceCoupon[] {
    return couponsOfInvoice(this.links, {
      id: 'invoice',
      invoiceType,
      currency: this.currency,
      period,
      planId: 'plan',
      customerId: 'customer',
      lines: lines.map((line, index) => ({ ...line, id: String(index) })),
    });
  }
}
