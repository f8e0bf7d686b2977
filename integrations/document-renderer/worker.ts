import workerpool from 'workerpool';
import { ciiFile } from '../e-invoice/cii.ts';
import { ublFile } from '../e-invoice/ubl.ts';
import type { InvoicePage } from '../invoice-pdf/render.ts';
import type { DocumentJob } from './jobs.ts';

/** The work of a process: one document after the other. The typesetter is loaded with the first page. */
async function make(job: DocumentJob): Promise<Uint8Array> {
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

/** A buffer arrives between processes as plain bytes. */
function received(page: InvoicePage): InvoicePage {
  return page.logo ? { ...page, logo: { ...page.logo, bytes: Buffer.from(page.logo.bytes) } } : page;
}

/** Loads the typesetter and the usual fonts. */
async function makeReady(): Promise<void> {
  const { loadTypesetter } = await import('../invoice-pdf/render.ts');
  loadTypesetter();
}

workerpool.worker({ make, makeReady });
