import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Files for imports to fetch: what is put there, or what answers by itself. */
export interface FileServer {
  /** The address of a file with this content. */
  put(name: string, content: string | Buffer, headers?: Record<string, string>): string;
  /** The address of what `answer` says. */
  answer(name: string, answer: (request: IncomingMessage, response: ServerResponse) => void): string;
  close(): void;
}

/** Whom the workers must allow to be asked by them. */
export const fileServerHost = '127.0.0.1';

/** Serves files on loopback. */
export async function serveFiles(): Promise<FileServer> {
  const answers = new Map<string, (request: IncomingMessage, response: ServerResponse) => void>();
  const server = createServer((request, response) => {
    const answer = answers.get(request.url ?? '');
    if (answer) answer(request, response);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, fileServerHost, resolve));
  const addressOf = (name: string) => `http://${fileServerHost}:${(server.address() as AddressInfo).port}/${name}`;
  return {
    put(name, content, headers = {}) {
      answers.set(`/${name}`, (_, response) => response.writeHead(200, headers).end(content));
      return addressOf(name);
    },
    answer(name, answer) {
      answers.set(`/${name}`, answer);
      return addressOf(name);
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
