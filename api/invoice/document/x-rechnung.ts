import {
  type EInvoiceDocument,
  type EInvoiceParty,
  type EInvoicePeriod,
  paymentCode,
} from '../../../integrations/e-invoice/document.ts';
import { ofCustomer, ofSetting, ofTenant } from './e-invoice-remedy.ts';

type Asked = Pick<EInvoiceDocument, 'kind' | 'buyerReference' | 'account'>;

/**
 * Wire field and remedy of everything that Germany's public sector demands beyond the core of the standard and nobody has said.
 * XRechnung 3.0: BR-DE-1, -3 to -9, -15; PEPPOL-EN16931-R010, -R020
 */
export function xRechnungGaps(asked: Asked, seller: EInvoiceParty, buyer: EInvoiceParty): Record<string, string> {
  const demanded: [field: string, value: unknown, what: string, remedy: string][] = [
    ['metadata.buyer_reference', asked.buyerReference, 'the Leitweg-ID that the customer gave', ofCustomer],
    ['billing_details.address.address_city', seller.city, "the seller's city", ofTenant],
    ['billing_details.address.address_postal_code', seller.postalCode, "the seller's post code", ofTenant],
    ['billing_details.email', seller.email, "the seller's mail", ofTenant],
    ['billing_details.phone', seller.phone, "the seller's telephone", ofTenant],
    ['contact_name', seller.contact, 'whom the customer may ask, a person or a department', ofSetting],
    ['iban', asked.account ?? (asked.kind === 'credit_note' || null), 'the account to pay to', ofSetting],
    ['customer.address_city', buyer.city, "the customer's city", ofCustomer],
    ['customer.address_postal_code', buyer.postalCode, "the customer's post code", ofCustomer],
    ['customer.email', buyer.email, "the customer's mail, which is its electronic address", ofCustomer],
  ];
  const missing = demanded.filter(([, value]) => value === null);
  return Object.fromEntries(missing.map(([field, , what, remedy]) => [field, `${what}; ${remedy}`]));
}

/**
 * A document of the core as an XRechnung: it always says how it is paid and which rate it has, and its period holds those of its
 * lines, of which some are billed in advance. XRechnung 3.0: BR-DE-1, BR-DE-14; PEPPOL-EN16931-R110, -R111
 */
export function asXRechnung(document: EInvoiceDocument): EInvoiceDocument {
  return {
    ...document,
    profile: 'xrechnung',
    paymentCode: document.paymentCode ?? paymentCode.open,
    vatRate: document.vatRate ?? '0',
    period: document.period && around([document.period, ...document.lines.flatMap(({ period }) => period ?? [])]),
  };
}

function around(periods: readonly EInvoicePeriod[]): EInvoicePeriod {
  const firsts = periods.map(({ first }) => first).toSorted();
  const lasts = periods.map(({ last }) => last).toSorted();
  return { first: firsts[0] ?? '', last: lasts.at(-1) ?? '' };
}
