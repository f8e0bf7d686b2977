import { z } from 'zod';

export const eInvoiceQuery = z.object({
  format: z
    .enum(['ubl', 'cii', 'facturx'])
    .describe('ubl: UBL 2.1; cii: Cross Industry Invoice D16B; facturx: the PDF/A-3 with that CII inside.'),
});

export const eCreditNoteQuery = z.object({
  format: z
    .enum(['ubl', 'cii', 'facturx'])
    .describe(
      'ubl: CreditNote of UBL 2.1; cii: Cross Industry Invoice D16B of type 381; facturx: a PDF/A-3 with that CII inside.',
    ),
});

/** The file itself. */
export const eInvoiceFile = z
  .string()
  .meta({ format: 'binary', description: 'application/xml, or application/pdf of format=facturx' });
