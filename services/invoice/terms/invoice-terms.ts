import { ownCoupons } from '../../../billing/invoice/coupon.ts';
import { computeInvoice, type InvoiceAmounts } from '../../../billing/invoice/invoice.ts';
import type { InvoiceCoupon, InvoiceWallet } from '../../../billing/invoice/invoice-input.ts';
import type { OwnTerms } from '../../../billing/invoice/own-terms.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { type CarriedCredit, creditLeftFor, readCarriedCredits } from './carried-credit.ts';
import {
  couponApplications,
  couponInput,
  readSubscriptionCoupons,
  removeCouponApplications,
  type SubscriptionCoupon,
  writeCouponApplications,
} from './invoice-coupon.ts';
import {
  appliedTaxes,
  readSubscriptionTaxes,
  removeOtherTaxes,
  type SubscriptionTaxes,
  taxesOfInvoice,
  taxInput,
  writeAppliedTaxes,
} from './invoice-tax.ts';

/** What changes the amounts of a subscription's invoices beside their charges. */
export interface InvoiceTerms {
  taxes: SubscriptionTaxes;
  coupons: readonly SubscriptionCoupon[];
  /** The coupons of subscriptions that are invoiced with this one, for their lines. */
  children?: readonly {
    subscriptionId: string;
    planId: string;
    customerId: string;
    coupons: readonly SubscriptionCoupon[];
  }[];
  /** What the invoice itself was given, which then holds alone. */
  own?: OwnTerms;
  /** What earlier changes left for the next invoice; absent where none did. */
  credit?: CarriedCredit;
}

/** An invoice before its amounts are known. */
export interface ComputableInvoice {
  id: string;
  invoiceType: string;
  currency: string;
  /** Null for one without a period, to which nothing of a subscription applies. */
  period: { start: string; end: string } | null;
  subscriptionId: string | null;
  planId: string;
  /** The subscriber, who may be invoiced through somebody else. */
  customerId: string;
  lines: readonly {
    id: string;
    amount: string;
    priceType: 'FIXED' | 'USAGE';
    priceId: string | null;
    subscriptionLineItemId: string | null;
    /** The time it pays for, which says what coupons cover it. */
    periodStart: string | null;
    periodEnd: string | null;
    /** Whose charge it is; absent is the invoice's own subscription. */
    subscriptionId?: string | null;
    /** The line of a credit of earlier changes, whose amount follows from the others. */
    isCarriedCredit?: boolean;
  }[];
  adjustmentAmount?: string;
  amountPaid?: string;
  /** Prepaid wallets that pay, in order of use; only where credits are taken. */
  wallets?: readonly InvoiceWallet[];
  /** When it is computed, on the customer's clock. */
  at: string;
}

/** What coupons and taxes came to, as rows. */
export interface AppliedRows {
  taxes: Record<string, unknown>[];
  coupons: Record<string, unknown>[];
}

/** The coupons, taxes and credits of subscriptions by subscription id, a statement each for any number of them. */
export async function readInvoiceTerms(
  sql: Sql,
  environmentId: string,
  subscriptionIds: readonly string[],
): Promise<Map<string, InvoiceTerms>> {
  const [taxes, coupons, credits] = await Promise.all([
    readSubscriptionTaxes(sql, environmentId, subscriptionIds),
    readSubscriptionCoupons(sql, environmentId, subscriptionIds),
    readCarriedCredits(sql, environmentId, subscriptionIds),
  ]);
  return new Map(
    [...taxes].map(([id, ofSubscription]) => {
      const credit = credits.get(id);
      return [id, { taxes: ofSubscription, coupons: coupons.get(id) ?? [], ...(credit ? { credit } : {}) }];
    }),
  );
}

/** The amounts of an invoice under its terms, and the rows that keep what coupons and taxes came to. spec: §2.16 */
export function computeAmounts(
  scope: Scope,
  invoice: ComputableInvoice,
  terms: InvoiceTerms | undefined,
): { amounts: InvoiceAmounts; applied: AppliedRows } {
  const { currency, period, lines } = invoice;
  const creditLeft = terms?.credit ? creditLeftFor(terms.credit, invoice.id) : '0';
  // A coupon neither covers a credit nor asks whether its rules are met with it.
  const charged = { ...invoice, lines: lines.filter(({ isCarriedCredit }) => !isCarriedCredit) };
  const own = terms?.own;
  const creditOf = new Map((own?.creditsOfLines ?? []).map(({ lineId, amount }) => [lineId, amount]));
  const taxes = own?.taxes
    ? { exempt: terms?.taxes.exempt ?? false, links: own.taxes }
    : taxesOfInvoice(terms?.taxes, { currency, periodEnd: period?.end ?? null });
  const amounts = computeInvoice({
    currency,
    lines: lines.map(({ id, amount, priceType, isCarriedCredit }) => ({
      id,
      amount,
      priceType,
      ...(isCarriedCredit ? { creditLeft } : {}),
      ...(creditOf.has(id) ? { importedCredit: creditOf.get(id)! } : {}),
    })),
    coupons: couponsOf(charged, terms),
    wallets: [...(invoice.wallets ?? [])],
    ...taxInput(taxes),
    ...(invoice.adjustmentAmount === undefined ? {} : { adjustmentAmount: invoice.adjustmentAmount }),
    ...(invoice.amountPaid === undefined ? {} : { amountPaid: invoice.amountPaid }),
    ...(own?.importedCredits ? { importedCredits: own.importedCredits } : {}),
  });
  return {
    amounts,
    applied: {
      taxes: appliedTaxes(scope, invoice, amounts, taxes),
      coupons: couponApplications(scope, invoice, amounts, own?.coupons ?? everyCoupon(terms)),
    },
  };
}

function couponsOf(invoice: ComputableInvoice, terms: InvoiceTerms | undefined): InvoiceCoupon[] {
  const { period } = invoice;
  if (terms?.own?.coupons) return ownCoupons(terms.own.coupons, invoice);
  if (!period) return [];
  const ofChildren = (terms?.children ?? []).flatMap(({ subscriptionId, planId, customerId, coupons }) => {
    const lines = invoice.lines.filter((line) => line.subscriptionId === subscriptionId);
    const lineIds = lines.map(({ id }) => id);
    const input = couponInput(coupons, { ...invoice, period, planId, customerId, lines });
    return input.map((coupon) => (coupon.lineId === null ? { lineIds, ...coupon } : coupon));
  });
  return [...ofChildren, ...couponInput(terms?.coupons, { ...invoice, period })];
}

function everyCoupon(terms: InvoiceTerms | undefined): SubscriptionCoupon[] {
  return [...(terms?.coupons ?? []), ...(terms?.children ?? []).flatMap(({ coupons }) => coupons)];
}

/** Writes what coupons and taxes came to; a statement a table for any number of invoices. */
export async function writeApplied(sql: Sql, applied: readonly AppliedRows[]): Promise<void> {
  await writeAppliedTaxes(
    sql,
    applied.flatMap(({ taxes }) => taxes),
  );
  await writeCouponApplications(
    sql,
    applied.flatMap(({ coupons }) => coupons),
  );
}

/** Replaces what drafts were given; `taxed` and `discounted` are those that may hold rows. The caller holds their locks. */
export async function replaceApplied(
  sql: Sql,
  environmentId: string,
  drafts: { taxed: readonly string[]; discounted: readonly string[] },
  applied: readonly AppliedRows[],
): Promise<void> {
  const taxes = applied.flatMap((rows) => rows.taxes);
  await removeOtherTaxes(sql, environmentId, drafts.taxed, taxes);
  await removeCouponApplications(sql, environmentId, drafts.discounted);
  await writeApplied(sql, applied);
}
