import type { FastifyInstance } from 'fastify';
import { type DocumentRenderer, openDocumentRenderer } from '../../integrations/document-renderer/renderer.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Makes PDFs and e-invoices beside the event loop. */
    documents: DocumentRenderer;
  }
}

/** One renderer for the server, with a process ready from when it listens; its processes end with the server. */
export function registerDocuments(app: FastifyInstance): void {
  const documents = openDocumentRenderer();
  app.decorate('documents', documents);
  app.addHook('onListen', async () => {
    void documents.makeReady().catch((err: unknown) => app.log.warn({ err }, 'no process for documents got ready'));
  });
  app.addHook('onClose', () => documents.close());
}
