import { ciiFile } from '../e-invoice/cii.ts';
import { ublFile } from '../e-invoice/ubl.ts';
import { facturxFile } from '../invoice-pdf/facturx.ts';
import { type InvoicePage, renderInvoicePdf } from '../invoice-pdf/render.ts';
import type { DocumentJob } from './jobs.ts';

/** What a thread does: one document after the other. */
export default async function make(job: DocumentJob): Promise<Uint8Array> {
  switch (job.kind) {
    case 'pdf':
      return renderInvoicePdf(received(job.page));
    case 'ubl':
      return Buffer.from(ublFile(job.document));
    case 'cii':
      return Buffer.from(ciiFile(job.document));
    case 'facturx':
      return facturxFile(received(job.page), job.document);
  }
}

/** A buffer arrives between threads as plain bytes. */
function received(page: InvoicePage): InvoicePage {
  return page.logo ? { ...page, logo: { ...page.logo, bytes: Buffer.from(page.logo.bytes) } } : page;
}
