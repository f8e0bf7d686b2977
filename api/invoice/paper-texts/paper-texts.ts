/** Fixed words of printed documents. */
export interface PaperTexts {
  invoice: string;
  creditNote: string;
  draft: string;
  billedTo: string;
  creditedTo: string;
  issueDate: string;
  dueDate: string;
  paidOn: string;
  period: string;
  purchaseOrder: string;
  yourReference: string;
  ofInvoice: string;
  reason: string;
  /** Heads of the table of lines. */
  heads: [description: string, period: string, quantity: string, price: string, amount: string];
  item: string;
  subtotal: string;
  discount: string;
  prepaidCredits: string;
  /** Prepaid credits that were taxed when they were bought. */
  taxedCredits: string;
  /** Behind a tax that is part of the prices. */
  included: string;
  /** Between a rate and what it was taken of. */
  of: string;
  total: string;
  creditNotes: string;
  paid: string;
  givenBack: string;
  amountDue: string;
  amountDueBy: string;
  paidInFull: string;
  nothingDue: string;
  voided: string;
  credited: string;
  totalCredited: string;
  payTo: string;
  vatId: string;
  taxNumber: string;
  registered: string;
  /** Sentences why a document has no tax, by the category of EN 16931. */
  untaxed: Record<'AE' | 'K' | 'G' | 'O' | 'E', string>;
  tax: string;
  /** Reasons of credit notes, by code. */
  reasons: Record<string, string>;
  /** Stamps of invoices, by status. */
  stamps: Record<string, string>;
  /** Means of payment, by type. */
  means: Record<string, string>;
}
