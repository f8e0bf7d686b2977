import { connect, createServer } from 'node:net';

/** A loopback port nobody listens on: `preferred` when it is free, else one the system chooses. */
export async function freePort(preferred = 0): Promise<number> {
  return (await listenOnce(preferred)) ?? (await listenOnce(0)) ?? 0;
}

/** Whether a loopback port can be listened on. */
export async function isPortFree(port: number): Promise<boolean> {
  return (await listenOnce(port)) !== undefined;
}

function listenOnce(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : undefined));
    });
  });
}

/** Whether something accepts connections on a port. */
export function accepts(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
