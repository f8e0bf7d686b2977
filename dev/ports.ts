import { randomInt } from 'node:crypto';
import { connect, createServer } from 'node:net';
import { StartupProblem } from './processes.ts';

/** A server did not start because somebody else has its port, who took it after it was found free. */
export class PortTaken extends StartupProblem {}

const maxPortTries = 4;

/**
 * Starts a server on `preferred` ports, and on others for as long as somebody else takes them first: between looking for a
 * free port and listening on it another program, as a launcher started at the same moment, may do the same. Returns what
 * was started and where. Throws what `start` throws; PortTaken after four tries.
 */
export async function onFreePorts<Name extends string, Server>(
  preferred: Record<Name, number>,
  start: (ports: Record<Name, number>) => Promise<Server>,
): Promise<{ server: Server; ports: Record<Name, number> }> {
  let ports = preferred;
  for (let tries = 1; ; tries += 1) {
    try {
      return { server: await start(ports), ports };
    } catch (error) {
      if (!(error instanceof PortTaken) || tries === maxPortTries) throw error;
      const fresh = Object.keys(preferred).map(async (name) => [name, await freePort()]);
      ports = Object.fromEntries(await Promise.all(fresh)) as Record<Name, number>;
    }
  }
}

/** Ports that systems do not give to outgoing connections of their own accord: those begin behind them. */
const quiet = { first: 20_000, end: 32_768 };
const quietTries = 20;

/**
 * A loopback port nobody listens on: `preferred` when it is free, else one that no connection takes between now and when it is listened
 * on.
 */
export async function freePort(preferred = 0): Promise<number> {
  const own = preferred === 0 ? undefined : await listenOnce(preferred);
  if (own !== undefined) return own;
  for (let tries = 0; tries < quietTries; tries += 1) {
    const port = await listenOnce(randomInt(quiet.first, quiet.end));
    if (port !== undefined) return port;
  }
  return (await listenOnce(0)) ?? 0;
}

/** True of a loopback port that can be listened on. */
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

/** True where something accepts connections on a port. */
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

const defaultPorts = { api: 8080, postgres: 5480, temporal: 7280, temporalUi: 8280 };

/**
 * Ports of the servers beside an API: all stand as far from it as by default, so that one variable moves them together. One that
 * would be below 1024 or above 65535 is 0, which the system replaces by a free one.
 */
export function portsBeside(apiPort: number): { postgres: number; temporal: number; temporalUi: number } {
  const beside = (port: number) => {
    const moved = port + apiPort - defaultPorts.api;
    return moved >= 1024 && moved <= 65_535 ? moved : 0;
  };
  return {
    postgres: beside(defaultPorts.postgres),
    temporal: beside(defaultPorts.temporal),
    temporalUi: beside(defaultPorts.temporalUi),
  };
}
