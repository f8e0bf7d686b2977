import type { Derivation } from '../../../billing/price/derivation.ts';
import type { ECreditNoteSource } from '../../../services/invoice/document/e-invoice.ts';
import type { PrintedInvoice } from '../../../services/invoice/document/invoice-page.ts';
import { settingDefaults } from '../../../services/platform/setting-defaults.ts';

/** Cents and days of February 2026 in Vienna; what a test does not say is as an unpaid invoice of two lines has it. */
interface Told {
  row?: object;
  customer?: object;
  terms?: object;
  taxes?: object[];
  coupons?: object[];
  lines?: object[];
  payments?: PrintedInvoice['payments'];
  derivations?: [string, object][];
  layout?: number;
}

const row = {
  id: 'inv_1',
  customerId: 'cust_1',
  invoiceNumber: 'INV-202602-00042',
  invoiceStatus: 'FINALIZED',
  paymentStatus: 'PENDING',
  currency: 'eur',
  description: '',
  metadata: { purchase_order: 'PO 4711', buyer_reference: 'KST 99' },
  noTaxReason: null,
  issueDate: '2026-03-01T00:00:00.000Z',
  dueDate: '2026-03-31T00:00:00.000Z',
  periodStart: '2026-01-31T23:00:00.000Z',
  periodEnd: '2026-02-28T23:00:00.000Z',
  paidAt: null,
  ...{
    subtotal: '1250',
    totalDiscount: '0',
    totalPrepaidCreditsApplied: '0',
    taxedCreditsApplied: '0',
    total: '1500',
    amountDue: '1500',
  },
  ...{ amountPaid: '0', amountRemaining: '1500', adjustmentAmount: '0', refundedAmount: '0' },
};
const customer = {
  ...{ name: 'Beispiel AG', externalId: 'b-1', email: 'rechnung@beispiel.example', timezone: 'Europe/Vienna' },
  ...{ addressLine1: 'Ring 1', addressPostalCode: '1010', addressCity: 'Wien', addressCountry: 'AT' },
  metadata: { vat_id: 'ATU12345678' },
};
const line = (id: string, displayName: string, quantity: string, amount: string) => ({
  ...{ id, displayName, planDisplayName: 'Pro', quantity, amount },
  ...{ periodStart: row.periodStart, periodEnd: row.periodEnd },
});
const tiers = {
  charge: 'usage',
  price: { billing_model: 'TIERED' },
  parts: [
    {
      ...{ buckets: null, bucketCount: null },
      steps: [
        { tier: 0, quantity: '1000', unit_amount: '0.5', flat_amount: '0' },
        { tier: 1, quantity: '2000', unit_amount: '0.325', flat_amount: '10' },
      ],
    },
  ],
};
const perSeat = {
  charge: 'fixed',
  price: { billing_model: 'FLAT_FEE' },
  parts: [
    { buckets: null, bucketCount: null, steps: [{ tier: null, quantity: '3', unit_amount: '30', flat_amount: '0' }] },
  ],
};

/** Sales tax of 20 % on top of `taxableAmount`. */
export const vat = (taxableAmount: string, taxAmount: string, more: object = {}) => ({
  taxRate: { name: 'VAT', percentageValue: '20' },
  ...{ taxableAmount, taxAmount, taxBehavior: 'exclusive' },
  ...more,
});

/** An invoice as its printed page reads it. */
export function printed(told: Told = {}): PrintedInvoice {
  const invoice = {
    row: { ...row, ...told.row },
    customer: { ...customer, ...told.customer },
    lines: told.lines ?? [line('l1', 'API calls', '3000', '1160'), line('l2', 'Seats', '3', '90')],
    taxes: told.taxes ?? [vat('1250', '250')],
    coupons: told.coupons ?? [],
  };
  const seller = {
    name: 'Acme Software GmbH',
    billingDetails: {
      ...{ email: 'finance@acme.example', phone: '+49 30 123456' },
      address: {
        ...{ address_line1: 'Hauptstraße 1', address_postal_code: '10115' },
        ...{ address_city: 'Berlin', address_country: 'DE' },
      },
    },
  };
  const account = { iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' };
  const numbers = { vat_id: 'DE123456789', tax_number: '30/123/45678', registration_id: 'HRB 1234' };
  return {
    ...{ invoice, seller, config: { ...settingDefaults.invoice_pdf_config, footer: 'Acme Software GmbH · Berlin' } },
    terms: { ...settingDefaults.e_invoice_config, ...account, ...numbers, ...told.terms },
    layout: told.layout ?? 2,
    derivations: new Map(
      (told.derivations ?? [
        ['l1', tiers],
        ['l2', perSeat],
      ]) as [string, Derivation][],
    ),
    payments: told.payments ?? [],
  } as unknown as PrintedInvoice;
}

/** A finalized credit note of `amount` on such an invoice. */
export function credited(amount: string, told: Told = {}): ECreditNoteSource {
  const { invoice, seller, config, terms, layout } = printed(told);
  const note = {
    ...{ creditNoteNumber: 'CN-260300001', totalAmount: amount, currency: 'eur', memo: 'Outage on 14 February' },
    ...{ reason: 'SERVICE_ISSUE', finalizedAt: '2026-03-05T10:00:00.000Z', createdAt: '2026-03-05T10:00:00.000Z' },
  };
  const lines = [{ displayName: 'API calls', amount }];
  return { invoice, seller, config, terms, layout, note, lines } as unknown as ECreditNoteSource;
}
