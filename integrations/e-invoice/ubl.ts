import {
  type EInvoiceDocument,
  type EInvoiceParty,
  type EInvoicePeriod,
  mailScheme,
  profiles,
  reasons,
  typeCode,
  unitCode,
} from './document.ts';
import { type XmlNode, xmlFile } from './xml.ts';

const common = 'urn:oasis:names:specification:ubl:schema:xsd';
const vat = { 'cbc:ID': 'VAT' };

/** An invoice as UBL 2.1, a credit note as its CreditNote. EN 16931-3-2 */
export function ublFile(document: EInvoiceDocument): string {
  const root = document.kind === 'invoice' ? 'Invoice' : 'CreditNote';
  const { amounts } = document;
  const money = (amount: string) => ({ '@currencyID': document.currency, '#': amount });
  const optional = (amount: string | null) => (amount === null ? null : money(amount));
  const terms = document.terms === null ? null : { 'cbc:Note': document.terms };
  return xmlFile(root, {
    '@xmlns': `${common}:${root}-2`,
    '@xmlns:cac': `${common}:CommonAggregateComponents-2`,
    '@xmlns:cbc': `${common}:CommonBasicComponents-2`,
    'cbc:CustomizationID': profiles[document.profile].specification,
    'cbc:ProfileID': profiles[document.profile].process,
    'cbc:ID': document.number,
    'cbc:IssueDate': document.issued,
    'cbc:DueDate': document.kind === 'invoice' ? document.due : null,
    [`cbc:${root}TypeCode`]: typeCode[document.kind],
    'cbc:Note': document.notes,
    'cbc:DocumentCurrencyCode': document.currency,
    'cbc:BuyerReference': document.buyerReference,
    'cac:InvoicePeriod': periodOf(document.period),
    'cac:OrderReference': document.purchaseOrder === null ? null : { 'cbc:ID': document.purchaseOrder },
    'cac:BillingReference': precedingOf(document),
    'cac:AccountingSupplierParty': { 'cac:Party': partyOf(document.seller) },
    'cac:AccountingCustomerParty': { 'cac:Party': partyOf(document.buyer) },
    'cac:Delivery': deliveryOf(document),
    'cac:PaymentMeans': paymentOf(document),
    'cac:PaymentTerms': terms,
    'cac:AllowanceCharge': allowancesOf(document, money),
    'cac:TaxTotal': {
      'cbc:TaxAmount': money(amounts.tax),
      'cac:TaxSubtotal': {
        'cbc:TaxableAmount': money(amounts.taxable),
        'cbc:TaxAmount': money(amounts.tax),
        'cac:TaxCategory': {
          'cbc:ID': amounts.category,
          'cbc:Percent': document.vatRate,
          'cbc:TaxExemptionReasonCode': document.exemption?.code ?? null,
          'cbc:TaxExemptionReason': document.exemption?.reason ?? null,
          'cac:TaxScheme': vat,
        },
      },
    },
    'cac:LegalMonetaryTotal': {
      'cbc:LineExtensionAmount': money(amounts.lineTotal),
      'cbc:TaxExclusiveAmount': money(amounts.taxable),
      'cbc:TaxInclusiveAmount': money(amounts.grandTotal),
      'cbc:AllowanceTotalAmount': optional(amounts.allowanceTotal),
      'cbc:ChargeTotalAmount': optional(amounts.charge),
      'cbc:PrepaidAmount': optional(amounts.prepaid),
      'cbc:PayableAmount': money(amounts.payable),
    },
    [`cac:${root}Line`]: amounts.lines.map((_, position) => lineOf(document, position, money)),
  });
}

type Money = (amount: string) => XmlNode;

function lineOf(document: EInvoiceDocument, position: number, money: Money): XmlNode {
  const line = document.amounts.lines[position]!;
  const { name, description, period } = document.lines[position]!;
  const quantity = (count: string) => ({ '@unitCode': unitCode, '#': count });
  return {
    'cbc:ID': String(position + 1),
    [document.kind === 'invoice' ? 'cbc:InvoicedQuantity' : 'cbc:CreditedQuantity']: quantity(line.quantity),
    'cbc:LineExtensionAmount': money(line.net),
    'cac:InvoicePeriod': periodOf(period),
    'cac:AllowanceCharge':
      line.allowance === null
        ? null
        : {
            'cbc:ChargeIndicator': 'false',
            'cbc:AllowanceChargeReason': reasons.discount,
            'cbc:Amount': money(line.allowance),
          },
    'cac:Item': {
      'cbc:Description': description,
      'cbc:Name': name,
      'cac:ClassifiedTaxCategory': categoryOf(document),
    },
    'cac:Price': {
      'cbc:PriceAmount': money(line.price),
      'cbc:BaseQuantity': line.perQuantity === null ? null : quantity(line.perQuantity),
    },
  };
}

function categoryOf({ amounts }: EInvoiceDocument): XmlNode {
  return { 'cbc:ID': amounts.category, 'cbc:Percent': amounts.percent, 'cac:TaxScheme': vat };
}

function allowancesOf(document: EInvoiceDocument, money: Money): XmlNode[] {
  const entry = (isCharge: boolean, reason: string, amount: string | null): XmlNode[] =>
    amount === null
      ? []
      : [
          {
            'cbc:ChargeIndicator': String(isCharge),
            'cbc:AllowanceChargeReason': reason,
            'cbc:Amount': money(amount),
            'cac:TaxCategory': categoryOf(document),
          },
        ];
  const { allowance, taxedCredits, charge } = document.amounts;
  const allowances = [
    ...entry(false, reasons.discount, allowance),
    ...entry(false, reasons.taxedCredits, taxedCredits),
  ];
  return [...allowances, ...entry(true, reasons.notCarried, charge)];
}

function periodOf(period: EInvoicePeriod | null): XmlNode | null {
  return period && { 'cbc:StartDate': period.first, 'cbc:EndDate': period.last };
}

function precedingOf({ preceding }: EInvoiceDocument): XmlNode | null {
  if (!preceding) return null;
  return { 'cac:InvoiceDocumentReference': { 'cbc:ID': preceding.number, 'cbc:IssueDate': preceding.issued } };
}

/** Goods and services that cross a border within the Union name where they go. BR-IC-12 */
function deliveryOf({ amounts, buyer }: EInvoiceDocument): XmlNode | null {
  if (amounts.category !== 'K') return null;
  const address = { 'cbc:CityName': buyer.city, 'cbc:PostalZone': buyer.postalCode, ...countryOf(buyer) };
  return { 'cac:DeliveryLocation': { 'cac:Address': address } };
}

function paymentOf({ paymentCode, account, kind, due }: EInvoiceDocument): XmlNode | null {
  if (paymentCode === null) return null;
  return {
    'cbc:PaymentMeansCode': paymentCode,
    'cbc:PaymentDueDate': kind === 'credit_note' ? due : null,
    'cac:PayeeFinancialAccount': account && {
      'cbc:ID': account.iban,
      'cac:FinancialInstitutionBranch': account.bic === null ? null : { 'cbc:ID': account.bic },
    },
  };
}

function partyOf(party: EInvoiceParty): XmlNode {
  const registration = (id: string | null, scheme: string): XmlNode[] =>
    id === null ? [] : [{ 'cbc:CompanyID': id, 'cac:TaxScheme': { 'cbc:ID': scheme } }];
  return {
    'cbc:EndpointID': party.email === null ? null : { '@schemeID': mailScheme, '#': party.email },
    'cac:PostalAddress': {
      'cbc:StreetName': party.line1,
      'cbc:AdditionalStreetName': party.line2,
      'cbc:CityName': party.city,
      'cbc:PostalZone': party.postalCode,
      'cbc:CountrySubentity': party.state,
      ...countryOf(party),
    },
    'cac:PartyTaxScheme': [...registration(party.vatId, 'VAT'), ...registration(party.taxNumber, 'TAX')],
    'cac:PartyLegalEntity': { 'cbc:RegistrationName': party.name, 'cbc:CompanyID': party.registrationId },
    'cac:Contact':
      party.contact === null && party.email === null && party.phone === null
        ? null
        : { 'cbc:Name': party.contact, 'cbc:Telephone': party.phone, 'cbc:ElectronicMail': party.email },
  };
}

function countryOf(party: EInvoiceParty): XmlNode {
  return { 'cac:Country': { 'cbc:IdentificationCode': party.country } };
}
