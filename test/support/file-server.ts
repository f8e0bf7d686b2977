import { afterAll } from 'vitest';
import { type FileServer, serveFiles } from '../../bench/ingest/file-server.ts';

/** Serves files of imports until the test file ends. */
export async function testFileServer(): Promise<FileServer> {
  const files = await serveFiles();
  afterAll(() => files.close());
  return files;
}
