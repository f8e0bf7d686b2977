/** An invoice as its activities are told of it. */
export interface InvoiceReference {
  tenantId: string;
  environmentId: string;
  invoiceId: string;
}
