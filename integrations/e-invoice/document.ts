import type { EInvoiceAmounts } from '../../billing/e-invoice.ts';

/** A party of EN 16931: BG-4 or BG-7. */
export interface EInvoiceParty {
  name: string;
  line1: string | null;
  line2: string | null;
  city: string | null;
  postalCode: string | null;
  state: string | null;
  /** ISO 3166-1, two letters. */
  country: string;
  email: string | null;
  phone: string | null;
  /** With the prefix of its country; BT-31, BT-48. */
  vatId: string | null;
  /** BT-32. */
  taxNumber: string | null;
  /** BT-30, BT-47. */
  registrationId: string | null;
}

/** First and last day, `2026-02-15`. */
export interface EInvoicePeriod {
  first: string;
  last: string;
}

/** An invoice or credit note in the terms of EN 16931: finished texts, days as `2026-02-15`. */
export interface EInvoiceDocument {
  kind: 'invoice' | 'credit_note';
  /** BT-1, BT-2, BT-9, BT-20. */
  number: string;
  issued: string;
  due: string | null;
  terms: string | null;
  /** Upper case. */
  currency: string;
  notes: string[];
  /** BT-10, BT-13. */
  buyerReference: string | null;
  purchaseOrder: string | null;
  /** What a credit note takes from; BG-3. */
  preceding: { number: string; issued: string | null } | null;
  period: EInvoicePeriod | null;
  seller: EInvoiceParty;
  buyer: EInvoiceParty;
  /** Where a transfer goes; BG-17. */
  account: { iban: string; bic: string | null } | null;
  /** Beside `amounts.lines`, in their order. */
  lines: { name: string; description: string | null; period: EInvoicePeriod | null }[];
  amounts: EInvoiceAmounts;
  /** Why there is no tax; null for categories S and Z. */
  exemption: { code: string | null; reason: string } | null;
}

/** UNTDID 1001. */
export const typeCode = { invoice: '380', credit_note: '381' } as const;
/** The core of the standard without any country's or network's rules on top. */
export const specification = 'urn:cen.eu:en16931:2017';
/** UN/ECE Recommendation 20: one. What is counted here is named by the line. */
export const unitCode = 'C62';
/** SEPA or other credit transfer; UNTDID 4461. */
export const transferCode = '30';
/** An address of electronic mail in the list of electronic address schemes. */
export const mailScheme = 'EM';
export const reasons = { discount: 'Discount', notCarried: 'Credit balance, not carried over' } as const;
