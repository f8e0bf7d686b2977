import type { EInvoiceAmounts } from '../../billing/invoice/e-invoice.ts';

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
  /** Whom to ask, a person or a department; BT-41, BT-56. */
  contact: string | null;
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
  profile: EInvoiceProfile;
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
  /** How it is paid, of `paymentCode`; BT-81. Null where nothing is said of it. */
  paymentCode: string | null;
  /** Where a transfer goes; BG-17. */
  account: { iban: string; bic: string | null } | null;
  /** Beside `amounts.lines`, in their order. */
  lines: { name: string; description: string | null; period: EInvoicePeriod | null }[];
  amounts: EInvoiceAmounts;
  /** BT-119; null where the document is outside VAT and its profile wants no rate. */
  vatRate: string | null;
  /** Why there is no tax; null for categories S and Z. */
  exemption: { code: string | null; reason: string } | null;
}

/** UNTDID 1001. */
export const typeCode = { invoice: '380', credit_note: '381' } as const;

/** The core of the standard without any country's or network's rules on top, or with those of Germany's public sector. */
export type EInvoiceProfile = 'en16931' | 'xrechnung';

/** BT-24 and BT-23. */
export const profiles: Record<EInvoiceProfile, { specification: string; process: string | null }> = {
  en16931: { specification: 'urn:cen.eu:en16931:2017', process: null },
  xrechnung: {
    specification: 'urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0',
    process: 'urn:fdc:peppol.eu:2017:poacc:billing:01:1.0',
  },
};
/** UN/ECE Recommendation 20: one. What is counted here is named by the line. */
export const unitCode = 'C62';
/** SEPA or other credit transfer, and what the document leaves open; UNTDID 4461. */
export const paymentCode = { transfer: '30', open: '1' } as const;
/** An address of electronic mail in the list of electronic address schemes. */
export const mailScheme = 'EM';
export const reasons = {
  discount: 'Discount',
  taxedCredits: 'Prepaid credits, taxed when they were bought',
  notCarried: 'Credit balance, not carried over',
} as const;
