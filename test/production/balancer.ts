import { createServer, request as forward } from 'node:http';

/** What a load balancer in front of several API processes does: one address, requests in turn, none to a process that is leaving. */
export interface Balancer {
  url: string;
  add(port: number): void;
  remove(port: number): void;
  /** Requests that no process answered. */
  failures(): number;
  close(): void;
}

export async function startBalancer(port: number): Promise<Balancer> {
  const backends: number[] = [];
  let turn = 0;
  let failed = 0;
  const server = createServer((incoming, outgoing) => {
    turn += 1;
    const backend = backends[turn % Math.max(backends.length, 1)];
    const fail = () => {
      failed += 1;
      if (!outgoing.headersSent) outgoing.writeHead(502);
      outgoing.end();
    };
    if (backend === undefined) return fail();
    const { method, url: path, headers } = incoming;
    const onward = forward({ host: '127.0.0.1', port: backend, method, path, headers, agent: false }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.once('error', fail);
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${port}`,
    add: (backend) => void backends.push(backend),
    remove(backend) {
      const at = backends.indexOf(backend);
      if (at >= 0) backends.splice(at, 1);
    },
    failures: () => failed,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
