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

const standard = 'urn:un:unece:uncefact:data:standard';

/** An invoice or credit note as Cross Industry Invoice D16B, which is also what a Factur-X file carries. EN 16931-3-3 */
export function ciiFile(document: EInvoiceDocument): string {
  return xmlFile('rsm:CrossIndustryInvoice', {
    '@xmlns:rsm': `${standard}:CrossIndustryInvoice:100`,
    '@xmlns:qdt': `${standard}:QualifiedDataType:100`,
    '@xmlns:ram': `${standard}:ReusableAggregateBusinessInformationEntity:100`,
    '@xmlns:udt': `${standard}:UnqualifiedDataType:100`,
    'rsm:ExchangedDocumentContext': contextOf(document),
    'rsm:ExchangedDocument': {
      'ram:ID': document.number,
      'ram:TypeCode': typeCode[document.kind],
      'ram:IssueDateTime': day(document.issued),
      'ram:IncludedNote': document.notes.map((note) => ({ 'ram:Content': note })),
    },
    'rsm:SupplyChainTradeTransaction': {
      'ram:IncludedSupplyChainTradeLineItem': document.lines.map((_, position) => lineOf(document, position)),
      'ram:ApplicableHeaderTradeAgreement': {
        'ram:BuyerReference': document.buyerReference,
        'ram:SellerTradeParty': partyOf(document.seller),
        'ram:BuyerTradeParty': partyOf(document.buyer),
        'ram:BuyerOrderReferencedDocument':
          document.purchaseOrder === null ? null : { 'ram:IssuerAssignedID': document.purchaseOrder },
      },
      // The element is mandatory, with nothing in it where nothing is to be said.
      'ram:ApplicableHeaderTradeDelivery': deliveryOf(document),
      'ram:ApplicableHeaderTradeSettlement': settlementOf(document),
    },
  });
}

function contextOf({ profile }: EInvoiceDocument): XmlNode {
  const { specification, process } = profiles[profile];
  return {
    'ram:BusinessProcessSpecifiedDocumentContextParameter': process === null ? null : { 'ram:ID': process },
    'ram:GuidelineSpecifiedDocumentContextParameter': { 'ram:ID': specification },
  };
}

function lineOf(document: EInvoiceDocument, position: number): XmlNode {
  const line = document.amounts.lines[position]!;
  const { name, description, period } = document.lines[position]!;
  const quantity = (count: string) => ({ '@unitCode': unitCode, '#': count });
  return {
    'ram:AssociatedDocumentLineDocument': { 'ram:LineID': String(position + 1) },
    'ram:SpecifiedTradeProduct': { 'ram:Name': name, 'ram:Description': description },
    'ram:SpecifiedLineTradeAgreement': {
      'ram:NetPriceProductTradePrice': {
        'ram:ChargeAmount': line.price,
        'ram:BasisQuantity': line.perQuantity === null ? null : quantity(line.perQuantity),
      },
    },
    'ram:SpecifiedLineTradeDelivery': { 'ram:BilledQuantity': quantity(line.quantity) },
    'ram:SpecifiedLineTradeSettlement': {
      'ram:ApplicableTradeTax': categoryOf(document),
      'ram:BillingSpecifiedPeriod': periodOf(period),
      'ram:SpecifiedTradeAllowanceCharge':
        line.allowance === null ? null : allowanceOf(false, line.allowance, reasons.discount),
      'ram:SpecifiedTradeSettlementLineMonetarySummation': { 'ram:LineTotalAmount': line.net },
    },
  };
}

function settlementOf(document: EInvoiceDocument): XmlNode {
  const { amounts, terms, due } = document;
  return {
    'ram:InvoiceCurrencyCode': document.currency,
    'ram:SpecifiedTradeSettlementPaymentMeans': paymentOf(document),
    'ram:ApplicableTradeTax': {
      'ram:CalculatedAmount': amounts.tax,
      'ram:TypeCode': 'VAT',
      'ram:ExemptionReason': document.exemption?.reason ?? null,
      'ram:BasisAmount': amounts.taxable,
      'ram:CategoryCode': amounts.category,
      'ram:ExemptionReasonCode': document.exemption?.code ?? null,
      'ram:RateApplicablePercent': document.vatRate,
    },
    'ram:BillingSpecifiedPeriod': periodOf(document.period),
    'ram:SpecifiedTradeAllowanceCharge': allowancesOf(document),
    'ram:SpecifiedTradePaymentTerms':
      terms === null && due === null
        ? null
        : { 'ram:Description': terms, 'ram:DueDateDateTime': due === null ? null : day(due) },
    'ram:SpecifiedTradeSettlementHeaderMonetarySummation': {
      'ram:LineTotalAmount': amounts.lineTotal,
      'ram:ChargeTotalAmount': amounts.charge,
      'ram:AllowanceTotalAmount': amounts.allowanceTotal,
      'ram:TaxBasisTotalAmount': amounts.taxable,
      'ram:TaxTotalAmount': { '@currencyID': document.currency, '#': amounts.tax },
      'ram:GrandTotalAmount': amounts.grandTotal,
      'ram:TotalPrepaidAmount': amounts.prepaid,
      'ram:DuePayableAmount': amounts.payable,
    },
    'ram:InvoiceReferencedDocument': precedingOf(document),
  };
}

function paymentOf({ paymentCode, account }: EInvoiceDocument): XmlNode | null {
  if (paymentCode === null) return null;
  return {
    'ram:TypeCode': paymentCode,
    'ram:PayeePartyCreditorFinancialAccount': account && { 'ram:IBANID': account.iban },
    'ram:PayeeSpecifiedCreditorFinancialInstitution': account?.bic ? { 'ram:BICID': account.bic } : null,
  };
}

function categoryOf({ amounts }: EInvoiceDocument): XmlNode {
  return { 'ram:TypeCode': 'VAT', 'ram:CategoryCode': amounts.category, 'ram:RateApplicablePercent': amounts.percent };
}

function allowanceOf(isCharge: boolean, amount: string, reason: string): XmlNode {
  return {
    'ram:ChargeIndicator': { 'udt:Indicator': String(isCharge) },
    'ram:ActualAmount': amount,
    'ram:Reason': reason,
  };
}

function allowancesOf(document: EInvoiceDocument): XmlNode[] {
  const entry = (isCharge: boolean, amount: string | null, reason: string): XmlNode[] =>
    amount === null ? [] : [{ ...allowanceOf(isCharge, amount, reason), 'ram:CategoryTradeTax': categoryOf(document) }];
  const { allowance, taxedCredits, charge } = document.amounts;
  const allowances = [
    ...entry(false, allowance, reasons.discount),
    ...entry(false, taxedCredits, reasons.taxedCredits),
  ];
  return [...allowances, ...entry(true, charge, reasons.notCarried)];
}

function periodOf(period: EInvoicePeriod | null): XmlNode | null {
  return period && { 'ram:StartDateTime': day(period.first), 'ram:EndDateTime': day(period.last) };
}

/** Goods and services that cross a border within the Union name where they go. BR-IC-12 */
function deliveryOf({ amounts, buyer }: EInvoiceDocument): XmlNode {
  if (amounts.category !== 'K') return {};
  const address = {
    'ram:PostcodeCode': buyer.postalCode,
    'ram:CityName': buyer.city,
    'ram:CountryID': buyer.country,
  };
  return { 'ram:ShipToTradeParty': { 'ram:PostalTradeAddress': address } };
}

function precedingOf({ preceding }: EInvoiceDocument): XmlNode | null {
  if (!preceding) return null;
  const issued = preceding.issued === null ? null : { 'qdt:DateTimeString': dayText(preceding.issued) };
  return { 'ram:IssuerAssignedID': preceding.number, 'ram:FormattedIssueDateTime': issued };
}

function partyOf(party: EInvoiceParty): XmlNode {
  const registration = (id: string | null, schemeID: string): XmlNode[] =>
    id === null ? [] : [{ 'ram:ID': { '@schemeID': schemeID, '#': id } }];
  return {
    'ram:Name': party.name,
    'ram:SpecifiedLegalOrganization': party.registrationId === null ? null : { 'ram:ID': party.registrationId },
    'ram:DefinedTradeContact':
      party.contact === null && party.email === null && party.phone === null
        ? null
        : {
            'ram:PersonName': party.contact,
            'ram:TelephoneUniversalCommunication': party.phone === null ? null : { 'ram:CompleteNumber': party.phone },
            'ram:EmailURIUniversalCommunication': party.email === null ? null : { 'ram:URIID': party.email },
          },
    'ram:PostalTradeAddress': {
      'ram:PostcodeCode': party.postalCode,
      'ram:LineOne': party.line1,
      'ram:LineTwo': party.line2,
      'ram:CityName': party.city,
      'ram:CountryID': party.country,
      'ram:CountrySubDivisionName': party.state,
    },
    'ram:URIUniversalCommunication':
      party.email === null ? null : { 'ram:URIID': { '@schemeID': mailScheme, '#': party.email } },
    'ram:SpecifiedTaxRegistration': [...registration(party.vatId, 'VA'), ...registration(party.taxNumber, 'FC')],
  };
}

function day(date: string): XmlNode {
  return { 'udt:DateTimeString': dayText(date) };
}

/** UNTDID 2379, 102: year, month, day. */
function dayText(date: string): XmlNode {
  return { '@format': '102', '#': date.replaceAll('-', '') };
}
