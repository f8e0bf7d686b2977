import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createSecureContext, getCACertificates, type SecureVersion } from 'node:tls';
import pg from 'pg';
import { parse, toClientConfig } from 'pg-connection-string';

/** A URL that cannot be used, said in a sentence that holds no secret. */
export class UnusableDatabaseUrl extends Error {}

/** Parameters of the URL, each with the variable of PostgreSQL that stands in where the URL does not say. */
const parameters: Readonly<Record<string, string | null>> = {
  application_name: 'PGAPPNAME',
  channel_binding: 'PGCHANNELBINDING',
  connect_timeout: 'PGCONNECT_TIMEOUT',
  fallback_application_name: null,
  host: null,
  keepalives: null,
  keepalives_idle: null,
  options: 'PGOPTIONS',
  password: null,
  port: null,
  ssl_max_protocol_version: 'PGSSLMAXPROTOCOLVERSION',
  ssl_min_protocol_version: 'PGSSLMINPROTOCOLVERSION',
  sslcert: 'PGSSLCERT',
  sslcrl: 'PGSSLCRL',
  sslkey: 'PGSSLKEY',
  sslmode: 'PGSSLMODE',
  sslnegotiation: 'PGSSLNEGOTIATION',
  sslpassword: null,
  sslrootcert: 'PGSSLROOTCERT',
  user: null,
};

/** Parameters that pg-connection-string reads by itself; the others are read here. */
const readByParser = ['application_name', 'fallback_application_name', 'host', 'options', 'password', 'port', 'user'];
const tlsFiles = ['sslcert', 'sslkey', 'sslrootcert'] as const;

const tlsVersions: Readonly<Record<string, SecureVersion>> = { 'TLSv1.2': 'TLSv1.2', 'TLSv1.3': 'TLSv1.3' };
const choices: Readonly<Record<string, readonly string[]>> = {
  channel_binding: ['disable', 'prefer'],
  keepalives: ['0', '1'],
  ssl_max_protocol_version: Object.keys(tlsVersions),
  ssl_min_protocol_version: Object.keys(tlsVersions),
  sslmode: ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'],
  sslnegotiation: ['postgres', 'direct'],
};

/** Modes without which the connection may be open to everybody on its way. */
const enforced = ['require', 'verify-ca', 'verify-full'];

/**
 * Connection options for the PostgreSQL that a URL names, for every client and pool of the product. Its TLS parameters mean what they mean to
 * libpq, and its variables (`PGSSLMODE`, `PGSSLROOTCERT`, …) stand in for those the URL leaves out. Reads the files of certificates.
 * Throws `UnusableDatabaseUrl` for a parameter that is unknown, one that has no such value, and a file that cannot be used: nothing
 * of a URL is ignored.
 */
export function databaseConnection(
  url: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): pg.PoolConfig {
  const given = parametersOf(url, environment);
  const { ssl, prefersTls } = tlsOf(given);
  const plain = new URL(url);
  plain.search = new URLSearchParams(given.filter(([name]) => readByParser.includes(name))).toString();
  const values = new Map(given);
  const timeoutMs = 1000 * count(values, 'connect_timeout');
  const Client = timeoutMs > 0 || prefersTls ? clientWith({ timeoutMs, prefersTls }) : undefined;
  const negotiation = values.get('sslnegotiation');
  return {
    ...(toClientConfig(parse(plain.href)) as pg.PoolConfig),
    // Said even where it is false: the driver would ask the environment again.
    ssl,
    ...(negotiation === 'direct' ? { sslnegotiation: negotiation } : {}),
    ...(values.get('channel_binding') === 'prefer' ? { enableChannelBinding: true } : {}),
    ...(values.get('keepalives') === '0' ? {} : { keepAlive: true }),
    ...(values.has('keepalives_idle') ? { keepAliveInitialDelayMillis: 1000 * count(values, 'keepalives_idle') } : {}),
    ...(Client ? { Client } : {}),
  };
}

/** Connection to the PostgreSQL that a URL names. The caller connects and ends it. */
export function databaseClient(url: string): pg.Client {
  const config = databaseConnection(url);
  return new ((config.Client as typeof pg.Client | undefined) ?? pg.Client)(config);
}

type Given = [name: string, value: string][];

function parametersOf(url: string, environment: Readonly<Record<string, string | undefined>>): Given {
  const { searchParams } = new URL(url);
  const given = new Map<string, string>();
  for (const [name, value] of searchParams) {
    if (!Object.hasOwn(parameters, name)) {
      const known = Object.keys(parameters).join(', ');
      throw new UnusableDatabaseUrl(`the parameter ${name} is not known; known are ${known}`);
    }
    if (given.has(name)) throw new UnusableDatabaseUrl(`the parameter ${name} is given twice`);
    given.set(name, value);
  }
  for (const [name, variable] of Object.entries(parameters)) {
    const value = variable === null ? undefined : environment[variable];
    if (value !== undefined && value !== '' && !given.has(name)) given.set(name, value);
  }
  for (const [name, value] of given) {
    const allowed = choices[name];
    if (allowed && !allowed.includes(value)) {
      throw new UnusableDatabaseUrl(`${name} must be one of ${allowed.join(', ')}`);
    }
  }
  if (given.get('host')?.includes(',')) throw new UnusableDatabaseUrl('host must name one host');
  return [...given];
}

function count(values: ReadonlyMap<string, string>, name: string): number {
  const value = values.get(name) ?? '0';
  if (!/^\d{1,6}$/.test(value)) throw new UnusableDatabaseUrl(`${name} must be a number of seconds`);
  return Number(value);
}

/** TLS of a connection: false for none, `prefersTls` where the server decides. */
function tlsOf(given: Given): { ssl: false | object; prefersTls: boolean } {
  const values = new Map(given);
  const fromSystem = values.get('sslrootcert') === 'system';
  const hasFiles = tlsFiles.some((name) => values.has(name));
  // Certificates without a mode are meant to count.
  const mode = values.get('sslmode') ?? (hasFiles || fromSystem ? 'verify-full' : 'disable');
  if (values.get('sslnegotiation') === 'direct' && !enforced.includes(mode)) {
    throw new UnusableDatabaseUrl(`sslnegotiation=direct needs sslmode ${enforced.join(', ')}`);
  }
  if (mode === 'disable') return { ssl: false, prefersTls: false };
  if (values.has('sslcert') !== values.has('sslkey')) {
    throw new UnusableDatabaseUrl('sslcert and sslkey belong together: give both or neither');
  }
  if (fromSystem && mode !== 'verify-full') {
    throw new UnusableDatabaseUrl(
      'sslrootcert=system needs sslmode=verify-full: anybody can have a certificate of a public CA',
    );
  }
  if (mode === 'verify-ca' && !values.has('sslrootcert')) {
    throw new UnusableDatabaseUrl(
      'sslmode=verify-ca needs sslrootcert, the file of your CA; without one use verify-full',
    );
  }
  for (const name of [...tlsFiles, 'sslcrl']) {
    const file = values.get(name);
    if (file !== undefined && !(name === 'sslrootcert' && fromSystem)) checkFile(name, file);
  }
  const asked = new URLSearchParams({ sslmode: mode });
  for (const name of tlsFiles) {
    const file = values.get(name);
    if (file !== undefined && !(name === 'sslrootcert' && fromSystem)) asked.set(name, file);
  }
  const ssl = {
    ...(parse(`postgres://base/?${asked}`, { useLibpqCompat: true }).ssl as object),
    ...(fromSystem ? { ca: getCACertificates('system') } : {}),
    ...(values.has('sslcrl') ? { crl: readFileSync(values.get('sslcrl') ?? '', 'utf8') } : {}),
    ...(values.has('sslpassword') ? { passphrase: values.get('sslpassword') } : {}),
    ...versionOf(values, 'ssl_min_protocol_version', 'minVersion'),
    ...versionOf(values, 'ssl_max_protocol_version', 'maxVersion'),
  };
  try {
    createSecureContext(ssl);
  } catch (error) {
    throw new UnusableDatabaseUrl(`its certificates cannot be used: ${(error as Error).message}`);
  }
  return { ssl, prefersTls: mode === 'prefer' };
}

function versionOf(values: ReadonlyMap<string, string>, name: string, option: 'minVersion' | 'maxVersion'): object {
  const version = tlsVersions[values.get(name) ?? ''];
  return version === undefined ? {} : { [option]: version };
}

function checkFile(name: string, file: string): void {
  try {
    readFileSync(file);
  } catch (error) {
    throw new UnusableDatabaseUrl(
      `the file ${file} of ${name} cannot be read: ${(error as NodeJS.ErrnoException).code}`,
    );
  }
}

/** The parts of the driver's client that say whether it uses TLS. */
interface TlsState {
  ssl: unknown;
  connection: { ssl: unknown };
  connectionParameters: { host: string; port: number };
}

/**
 * A client that gives up connecting after a time, which a pool's own option would also set to waiting for a free connection, and one
 * that asks the server before whether it offers TLS: the driver itself has no `prefer`.
 */
function clientWith({ timeoutMs, prefersTls }: { timeoutMs: number; prefersTls: boolean }): typeof pg.Client {
  return class extends pg.Client {
    constructor(config?: string | pg.ClientConfig) {
      super(typeof config === 'object' && timeoutMs > 0 ? { ...config, connectionTimeoutMillis: timeoutMs } : config);
    }

    override connect(): Promise<pg.Client>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<pg.Client> {
      const ready = prefersTls ? this.#chooseTls() : Promise.resolve();
      if (!callback) return ready.then(() => super.connect());
      ready.then(() => super.connect(callback), callback);
      return Promise.resolve(this);
    }

    async #chooseTls(): Promise<void> {
      const state = this as unknown as TlsState;
      const { host, port } = state.connectionParameters;
      if (await offersTls(host, port, timeoutMs)) return;
      state.ssl = false;
      state.connection.ssl = false;
    }
  };
}

/** The message that asks a server for TLS: its length and its code. */
const tlsRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

async function offersTls(host: string, port: number, timeoutMs: number): Promise<boolean> {
  if (host.startsWith('/')) return false;
  const answer = Promise.withResolvers<boolean>();
  const socket = connect(port, host, () => socket.write(tlsRequest));
  if (timeoutMs > 0) socket.setTimeout(timeoutMs, () => socket.destroy(new Error('timeout expired')));
  socket.once('data', (data) => answer.resolve(data[0] === 'S'.charCodeAt(0)));
  socket.once('error', answer.reject);
  socket.once('close', () => answer.resolve(false));
  try {
    return await answer.promise;
  } finally {
    socket.destroy();
  }
}
