import { ciiFile } from '../e-invoice/cii.ts';
import { ublFile } from '../e-invoice/ubl.ts';
import type { InvoicePage } from '../invoice-pdf/render.ts';
import type { DocumentJob } from './jobs.ts';

/**
 * What a thread does: one document after the other. What sets pages is loaded with the first page: a thread that ends with it
 * loaded but never used takes the process with it.
 */
export default async function make(job: DocumentJob): Promise<Uint8Array> {
  switch (job.kind) {
    case 'pdf': {
      const { renderInvoicePdf } = await import('../invoice-pdf/render.ts');
      return renderInvoicePdf(received(job.page));
    }
    case 'ubl':
      return Buffer.from(ublFile(job.document));
    case 'cii':
      return Buffer.from(ciiFile(job.document));
    case 'facturx': {
      const { facturxFile } = await import('../invoice-pdf/facturx.ts');
      return facturxFile(received(job.page), job.document);
    }
  }
}

/** A buffer arrives between threads as plain bytes. */
function received(page: InvoicePage): InvoicePage {
  return page.logo ? { ...page, logo: { ...page.logo, bytes: Buffer.from(page.logo.bytes) } } : page;
}
