import { z } from 'zod';
import { badField } from '../../../db/rows/record.ts';
import type { EInvoiceProfile } from '../../../integrations/e-invoice/document.ts';

const profile = z
  .enum(['en16931', 'xrechnung'])
  .default('en16931')
  .describe("xrechnung: with the rules of Germany's public sector, XRechnung 3.0; of ubl and cii only.");

export const eInvoiceQuery = z.object({
  format: z
    .enum(['ubl', 'cii', 'facturx'])
    .describe('ubl: UBL 2.1; cii: Cross Industry Invoice D16B; facturx: the PDF/A-3 with that CII inside.'),
  profile,
});

export const eCreditNoteQuery = z.object({
  format: z
    .enum(['ubl', 'cii', 'facturx'])
    .describe(
      'ubl: CreditNote of UBL 2.1; cii: Cross Industry Invoice D16B of type 381; facturx: a PDF/A-3 with that CII inside.',
    ),
  profile,
});

/** The profile asked for. Throws `validation_error` for one that the format cannot be in. */
export function eInvoiceProfile({ format, profile }: z.output<typeof eInvoiceQuery>): EInvoiceProfile {
  if (profile === 'xrechnung' && format === 'facturx') {
    throw badField('profile', 'xrechnung is a file of its own: ask for format=ubl or format=cii');
  }
  return profile;
}

/** The file itself. */
export const eInvoiceFile = z
  .string()
  .meta({ format: 'binary', description: 'application/xml, or application/pdf of format=facturx' });
