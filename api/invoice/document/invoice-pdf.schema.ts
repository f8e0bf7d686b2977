import { z } from 'zod';
import { booleanQuery } from '../../scalars.schema.ts';

export const invoicePdfQuery = z.object({
  url: booleanQuery()
    .optional()
    .describe('true: an address of the document instead of the document; who has it may open it for 30 minutes.'),
  force_generate: booleanQuery()
    .optional()
    .describe('true: an address of the document made anew, also where the invoice was given one.'),
});

export const presignedUrl = z.object({ presigned_url: z.string() });

/** Bytes of a PDF. */
export const pdfFile = z.string().meta({ format: 'binary', description: 'application/pdf' });

/** Bytes of a PDF, or with `url` an address. */
export const invoicePdf = z.union([pdfFile, presignedUrl]);
