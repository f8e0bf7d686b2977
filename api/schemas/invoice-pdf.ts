import { z } from 'zod';
import { booleanQuery } from './scalars.ts';

export const invoicePdfQuery = z.object({
  url: booleanQuery().optional().describe('true: the address of the document instead of the document.'),
  force_generate: booleanQuery().optional().describe('true: made anew, also where the invoice has an address.'),
});

/** Bytes of a PDF, or with `url` an address. */
export const invoicePdf = z.union([
  z.string().meta({ format: 'binary', description: 'application/pdf' }),
  z.object({ presigned_url: z.string() }),
]);
