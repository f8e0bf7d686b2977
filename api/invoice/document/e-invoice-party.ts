import type { VatCategory } from '../../../billing/invoice/e-invoice.ts';
import { refuse } from '../../../billing/refusal.ts';
import type { EInvoiceParty } from '../../../integrations/e-invoice/document.ts';
import type { PaperCustomer } from '../../../services/invoice/document/document-paper.ts';
import type { EInvoiceSource } from '../../../services/invoice/document/e-invoice.ts';
import { countryCode } from './country.ts';
import { ofCustomer, ofSetting, ofTenant } from './e-invoice-remedy.ts';

type Terms = EInvoiceSource['terms'];
type Address = Partial<
  Record<`address_${'line1' | 'line2' | 'city' | 'state' | 'postal_code' | 'country'}`, string | null>
>;

/** Categories whose seller, and whose buyer, must be known to the tax office by the VAT number alone. BR-IC-02, BR-G-02 */
const crossing: readonly VatCategory[] = ['K', 'G'];
const vatNumber = /^[A-Z]{2}[A-Z0-9+*]{2,13}$/;

/**
 * The two parties as EN 16931 wants them. Throws `validation_error` that names everything that is missing and where it is set, with
 * what `demandedBeyond` finds missing for a profile that demands more.
 */
export function eInvoiceParties(
  source: { seller: EInvoiceSource['seller']; terms: Terms; customer: PaperCustomer | null },
  category: VatCategory,
  demandedBeyond: (seller: EInvoiceParty, buyer: EInvoiceParty) => Record<string, string>,
): { seller: EInvoiceParty; buyer: EInvoiceParty } {
  const seller = sellerOf(source.seller, source.terms);
  const buyer = buyerOf(source.customer);
  refuseGaps({ ...missingOf(seller, buyer, category), ...demandedBeyond(seller, buyer) });
  // What is outside VAT must not show numbers of it. BR-O-02
  if (category === 'O') return { seller: { ...seller, vatId: null }, buyer: { ...buyer, vatId: null } };
  return { seller, buyer };
}

function sellerOf(tenant: EInvoiceSource['seller'], terms: Terms): EInvoiceParty {
  const details = (tenant?.billingDetails ?? {}) as { email?: string; phone?: string; address?: Address | null };
  const address = details.address ?? {};
  return {
    name: tenant?.name ?? '',
    line1: address.address_line1 || null,
    line2: address.address_line2 || null,
    city: address.address_city || null,
    postalCode: address.address_postal_code || null,
    state: address.address_state || null,
    country: countryCode(address.address_country),
    email: details.email || null,
    phone: details.phone || null,
    contact: terms.contact_name || null,
    vatId: terms.vat_id || null,
    taxNumber: terms.tax_number || null,
    registrationId: terms.registration_id || null,
  };
}

function buyerOf(customer: PaperCustomer | null): EInvoiceParty {
  return {
    name: customer?.name || customer?.externalId || '',
    line1: customer?.addressLine1 || null,
    line2: customer?.addressLine2 || null,
    city: customer?.addressCity || null,
    postalCode: customer?.addressPostalCode || null,
    state: customer?.addressState || null,
    country: countryCode(customer?.addressCountry),
    email: customer?.email || null,
    phone: customer?.contact || null,
    contact: null,
    vatId: customer?.metadata.vat_id || null,
    taxNumber: null,
    registrationId: customer?.metadata.registration_id || null,
  };
}

/** Wire field and remedy of everything the standard demands and nobody has said. BR-6 to BR-11, BR-CO-26, BR-S-02 and its like */
function missingOf(seller: EInvoiceParty, buyer: EInvoiceParty, category: VatCategory): Record<string, string> {
  const gaps: Record<string, string> = {};
  if (seller.name === '') gaps['tenant.name'] = `the seller's name; ${ofTenant}`;
  if (seller.country === '') {
    gaps['billing_details.address.address_country'] = `the seller's country as two letters, as DE; ${ofTenant}`;
  }
  if (buyer.country === '') gaps['customer.address_country'] = `the customer's country as two letters; ${ofCustomer}`;
  if (crossing.includes(category) && seller.vatId === null) gaps.vat_id = `the seller's VAT number; ${ofSetting}`;
  else if (category !== 'O' && seller.vatId === null && seller.taxNumber === null) {
    gaps.vat_id = `the seller's VAT number, or else tax_number and registration_id; ${ofSetting}`;
  }
  if ((category === 'O' || seller.vatId === null) && seller.registrationId === null && !gaps.vat_id) {
    gaps.registration_id = `the seller's number in its register; ${ofSetting}`;
  }
  const isReverse = category === 'AE' && buyer.registrationId === null;
  if ((category === 'K' || isReverse) && buyer.vatId === null) {
    gaps['customer.metadata.vat_id'] = `the customer's VAT number; ${ofCustomer}`;
  }
  if (buyer.vatId !== null && !vatNumber.test(buyer.vatId)) {
    gaps['customer.metadata.vat_id'] = `must be a VAT number with its country, as DE123456789; ${ofCustomer}`;
  }
  return gaps;
}

function refuseGaps(fields: Record<string, string>): void {
  const names = Object.keys(fields);
  if (names.length === 0) return;
  const problems = names.map((name) => `${name}: ${fields[name]}`);
  throw refuse(
    'validation_error',
    `an e-invoice needs more than the document was issued with. ${problems.join('. ')}. What is set now is on documents issued from now on: void this one and issue another`,
    { fields },
  );
}
