import type { OwnCoupon } from './coupon.ts';

/** A tax rate's record as it is kept beside what it came to: the members of the entity. */
export interface TaxRateSnapshot {
  id: string;
  tenantId: string;
  environmentId: string;
  status: string;
  createdAt: string;
  createdBy: string;
  updatedAt: string;
  updatedBy: string;
  code: string;
  name: string;
  description: string;
  percentageValue: string;
  scope: string;
  taxRateStatus: string;
  taxRateType: string;
  metadata: Record<string, string>;
}

/** A tax that an invoice was given itself. */
export interface OwnTax {
  associationId: null;
  rateId: string;
  percentage: string;
  taxBehavior: 'inclusive' | 'exclusive';
  rate: TaxRateSnapshot;
}

/**
 * Coupons, taxes and credits that an invoice was given by whoever made it, resolved once so that computing it again, or its
 * replacement, finds the same. Null members follow the subscription. Plain JSON.
 * spec: subscriptions-and-invoicing §1.11.1, §2.15.8, §2.18.1
 */
export interface OwnTerms {
  /** In order of application; `snapshot` is the coupon's record, keys as on the wire. */
  coupons: (OwnCoupon & { snapshot: Record<string, unknown>; isRedeemedHere: boolean })[] | null;
  /** In order of application. */
  taxes: OwnTax[] | null;
  /** Credits of an imported invoice that pay its lines. */
  importedCredits: string | null;
  /** Credits by line; absent where each line takes as much as it holds. */
  creditsOfLines?: { lineId: string; amount: string }[];
  /** The caller's number, which the invoice shows once it is final. */
  invoiceNumber: string | null;
}

/** The terms of a replacement: the same coupons and taxes on its own lines, without credits and without a number. */
export function replacementTerms(terms: OwnTerms | null, newLineIds: ReadonlyMap<string, string>): OwnTerms | null {
  if (terms === null) return null;
  const { creditsOfLines: _, ...rest } = movedTerms(terms, newLineIds);
  return { ...rest, importedCredits: null, invoiceNumber: null };
}

/** The terms after lines were replaced by others; a coupon of a line that is gone is left out by the computation. */
export function movedTerms(terms: OwnTerms, newLineIds: ReadonlyMap<string, string>): OwnTerms {
  const moved = (lineId: string) => newLineIds.get(lineId) ?? lineId;
  const coupons =
    terms.coupons?.map((coupon) => ({
      ...coupon,
      lineId: coupon.lineId === null ? null : moved(coupon.lineId),
    })) ?? null;
  const credits = terms.creditsOfLines?.map(({ lineId, amount }) => ({ lineId: moved(lineId), amount }));
  return { ...terms, coupons, ...(credits ? { creditsOfLines: credits } : {}) };
}
