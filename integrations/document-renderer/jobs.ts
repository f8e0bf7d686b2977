import type { EInvoiceDocument } from '../e-invoice/document.ts';
import type { InvoicePage } from '../invoice-pdf/render.ts';

/** A document to be made: a PDF, or a file of an e-invoice. */
export type DocumentJob =
  | { kind: 'pdf'; page: InvoicePage }
  | { kind: 'ubl' | 'cii'; document: EInvoiceDocument }
  | { kind: 'facturx'; page: InvoicePage; document: EInvoiceDocument };
