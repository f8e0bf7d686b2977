import { fileURLToPath } from 'node:url';
import workerpool, { type Pool } from 'workerpool';
import { refuse } from '../../billing/refusal.ts';
import type { EInvoiceDocument } from '../e-invoice/document.ts';
import { inPlainLetters, type PlainLetters } from '../invoice-pdf/plain-letters.ts';
import type { InvoicePage } from '../invoice-pdf/render.ts';
import type { DocumentJob } from './jobs.ts';

export interface DocumentRenderer {
  /** The pages of an invoice as PDF/A-3b. */
  pdf(page: InvoicePage): Promise<Buffer>;
  /** EN 16931 in one of its two syntaxes. */
  eInvoice(document: EInvoiceDocument, syntax: 'ubl' | 'cii'): Promise<Buffer>;
  /** Both in one: the pages with the CII inside. */
  facturx(page: InvoicePage, document: EInvoiceDocument): Promise<Buffer>;
  /** Starts a process and reads its fonts before anybody asks, and from now on keeps one ready: the first page is as fast as the next. */
  makeReady(): Promise<void>;
  close(): Promise<void>;
}

export interface RendererLimits {
  processes: number;
  /** Documents that may wait for a process. */
  waiting: number;
  deadlineMs: number;
}

/** Two at once hold the memory of two; when nothing was asked for a minute they end and give back what they hold. */
const usualLimits: RendererLimits = { processes: 2, waiting: 64, deadlineMs: 20_000 };
const idleMs = 60_000;
const heapMegabytes = 256;
const script = fileURLToPath(new URL('./worker.ts', import.meta.url));

/**
 * Makes documents in processes of their own: a long table holds up no other request, and a text that makes the typesetter abort ends
 * its process and nothing else. The page is then set once more in plain letters, and at last in those of ASCII. Processes start with the first document, unless one is
 * made ready before. Too many waiting documents and one that takes too long are refused with `service_unavailable`; the process of the latter ends.
 */
export function openDocumentRenderer(limits: RendererLimits = usualLimits): DocumentRenderer {
  let pool: Pool | null = null;
  let underWay = 0;
  let idle: NodeJS.Timeout | undefined;
  let isKeptReady = false;

  const end = async () => {
    const ending = pool;
    pool = null;
    await ending?.terminate(true);
  };
  const readyOne = async () => {
    pool ??= openPool(limits);
    await pool.exec('makeReady', []).timeout(limits.deadlineMs);
  };
  // A process that did not get ready is started by the document that needs it.
  const rest = () =>
    end()
      .then(() => (isKeptReady ? readyOne() : undefined))
      .catch(() => undefined);

  async function attempt(job: DocumentJob): Promise<Buffer> {
    pool ??= openPool(limits);
    if (pool.stats().pendingTasks >= limits.waiting) throw busy('many documents are waiting');
    try {
      return Buffer.from(await pool.exec('make', [job]).timeout(limits.deadlineMs));
    } catch (error) {
      if (error instanceof workerpool.Promise.TimeoutError) {
        throw busy(`the document took longer than ${limits.deadlineMs / 1000} s`);
      }
      throw error;
    }
  }

  /** Makes a document; where the typesetter aborts, its page in plainer letters each time. */
  async function plainer(job: DocumentJob, letters: readonly PlainLetters[]): Promise<Buffer> {
    const [next, ...rest] = letters;
    try {
      return await attempt(job);
    } catch (error) {
      if (!('page' in job) || !(error instanceof workerpool.TerminateError) || next === undefined) throw error;
      return plainer({ ...job, page: inPlainLetters(job.page, next) }, rest);
    }
  }

  async function run(job: DocumentJob): Promise<Buffer> {
    underWay += 1;
    clearTimeout(idle);
    try {
      return await plainer(job, ['unshaped', 'basic']);
    } finally {
      underWay -= 1;
      if (underWay === 0) idle = setTimeout(() => void rest(), idleMs).unref();
    }
  }

  return {
    pdf: (page) => run({ kind: 'pdf', page }),
    eInvoice: (document, kind) => run({ kind, document }),
    facturx: (page, document) => run({ kind: 'facturx', page, document }),
    makeReady: () => {
      isKeptReady = true;
      return readyOne();
    },
    close: () => {
      clearTimeout(idle);
      isKeptReady = false;
      return end();
    },
  };
}

function openPool(limits: RendererLimits): Pool {
  return workerpool.pool(script, {
    workerType: 'process',
    maxWorkers: limits.processes,
    forkOpts: { serialization: 'advanced', execArgv: [`--max-old-space-size=${heapMegabytes}`] },
  });
}

function busy(problem: string) {
  return refuse('service_unavailable', `${problem}; try again later`);
}
