import { Piscina } from 'piscina';
import { refuse } from '../../billing/refusal.ts';
import type { EInvoiceDocument } from '../e-invoice/document.ts';
import type { InvoicePage } from '../invoice-pdf/render.ts';
import type { DocumentJob } from './jobs.ts';

export interface DocumentRenderer {
  /** The pages of an invoice as PDF/A-3b. */
  pdf(page: InvoicePage): Promise<Buffer>;
  /** EN 16931 in one of its two syntaxes. */
  eInvoice(document: EInvoiceDocument, syntax: 'ubl' | 'cii'): Promise<Buffer>;
  /** Both in one: the pages with the CII inside. */
  facturx(page: InvoicePage, document: EInvoiceDocument): Promise<Buffer>;
  close(): Promise<void>;
}

export interface RendererLimits {
  threads: number;
  /** Documents that may wait for a thread. */
  waiting: number;
  deadlineMs: number;
}

/** Two at once hold the memory of two; an idle thread ends and gives its fonts back. */
const usualLimits: RendererLimits = { threads: 2, waiting: 64, deadlineMs: 20_000 };
const idleMs = 60_000;
const heapMegabytes = 256;

/**
 * Makes documents on threads of their own, so that a long table holds up no other request. Threads start with the first document.
 * Too many waiting documents and one that takes too long are refused with `service_unavailable`; the thread of the latter ends.
 */
export function openDocumentRenderer(limits: RendererLimits = usualLimits): DocumentRenderer {
  const pool = new Piscina({
    filename: new URL('./worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: limits.threads,
    maxQueue: limits.waiting,
    idleTimeout: idleMs,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytes },
  });
  const run = async (job: DocumentJob): Promise<Buffer> => {
    if (pool.queueSize >= limits.waiting) throw busy('many documents are waiting');
    const deadline = AbortSignal.timeout(limits.deadlineMs);
    try {
      return Buffer.from(await pool.run(job, { signal: deadline }));
    } catch (error) {
      if (deadline.aborted) throw busy(`the document took longer than ${limits.deadlineMs / 1000} s`);
      throw error;
    }
  };
  return {
    pdf: (page) => run({ kind: 'pdf', page }),
    eInvoice: (document, kind) => run({ kind, document }),
    facturx: (page, document) => run({ kind: 'facturx', page, document }),
    close: () => pool.destroy(),
  };
}

function busy(problem: string) {
  return refuse('service_unavailable', `${problem}; try again later`);
}
