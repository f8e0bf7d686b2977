import { existsSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import {
  type ConnectionOptions,
  defaultGrpcRetryOptions,
  type GrpcRetryOptions,
  makeGrpcRetryInterceptor,
} from '@temporalio/client';
import { loadClientConfigProfile, toClientOptions } from '@temporalio/envconfig';

/** Settings that lead to no Temporal, said in a sentence that holds no secret. */
export class UnusableTemporalSettings extends Error {}

type Environment = Readonly<Record<string, string | undefined>>;

/** Connection of every client and worker of the product to Temporal. */
export interface TemporalSettings {
  readonly namespace: string;
  /** For `Connection` and `NativeConnection`. */
  readonly connection: TemporalConnectionOptions;
}

/** Options that both kinds of connections of the SDK take. */
export interface TemporalConnectionOptions {
  readonly address: string;
  readonly tls?: Exclude<ReturnType<typeof toClientOptions>['connectionOptions']['tls'], null | undefined>;
  readonly apiKey?: string;
  readonly metadata?: Record<string, string>;
}

type CallInterceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type Call = ReturnType<CallInterceptor>;

/**
 * Interceptors of every `Connection` that is closed while its process goes on or ends in good order: a call that failed for a passing
 * reason is tried again, `maxAttempts` times in all, and ends as CANCELLED once the connection is closed. (The SDK's own interceptor
 * begins the next attempt in a timer, on the closed channel, where what it throws reaches nobody but the process.)
 */
export function callInterceptors(maxAttempts = 10): CallInterceptor[] {
  return [makeGrpcRetryInterceptor(callRetry(maxAttempts)), endOnClosedConnection];
}

/**
 * Retries of a call: those of the SDK, which waits seconds where the server is out of resources. A workflow whose run is just rolling
 * over is reported in the same way, although it takes the call some milliseconds later: that is tried again at once, and twice as often.
 */
export function callRetry(maxAttempts: number): GrpcRetryOptions {
  const usual = defaultGrpcRetryOptions({ maxAttempts });
  const soon = defaultGrpcRetryOptions({ maxAttempts: 2 * maxAttempts, initialIntervalMs: () => rolloverMs });
  return {
    delayFunction: (attempt, status) => (isRollover(status) ? soon : usual).delayFunction(attempt, status),
    retryableDecider: (attempt, status) => (isRollover(status) ? soon : usual).retryableDecider(attempt, status),
  };
}

const rolloverMs = 30;
const resourceExhausted = 8;

/** An Update that starts its workflow says no more than this of its parts. */
function isRollover({ code, details }: { code: number; details: string }): boolean {
  return code === resourceExhausted && /workflow is (closing|busy)|Update-with-Start could not be/i.test(details);
}

const cancelled = 1;

const endOnClosedConnection: CallInterceptor = (options, nextCall) => {
  try {
    return nextCall(options) as Call;
  } catch {
    const ended: Pick<Call, 'cancelWithStatus' | 'getPeer' | 'start' | 'sendMessage' | 'startRead' | 'halfClose'> = {
      cancelWithStatus: () => undefined,
      getPeer: () => '',
      start: (metadata, listener) => {
        listener?.onReceiveMessage?.(null);
        listener?.onReceiveStatus?.({ code: cancelled, details: 'the connection to Temporal is closed', metadata });
      },
      sendMessage: () => undefined,
      startRead: () => undefined,
      halfClose: () => undefined,
    };
    return ended as Call;
  }
};

const tlsVariables = [
  'TEMPORAL_TLS',
  'TEMPORAL_TLS_CLIENT_CERT_DATA',
  'TEMPORAL_TLS_CLIENT_CERT_PATH',
  'TEMPORAL_TLS_CLIENT_KEY_DATA',
  'TEMPORAL_TLS_CLIENT_KEY_PATH',
  'TEMPORAL_TLS_SERVER_CA_CERT_DATA',
  'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
  'TEMPORAL_TLS_SERVER_NAME',
];

/**
 * Connection options for Temporal from its standard variables (`TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `TEMPORAL_API_KEY`, `TEMPORAL_TLS…`),
 * which win over the profile of a TOML file. A file is read when `TEMPORAL_CONFIG_FILE` or `TEMPORAL_PROFILE` asks for it, never because
 * the account happens to have one. An empty variable counts as unset. Throws `UnusableTemporalSettings` for a variable of TLS that is
 * unknown, half a pair of certificate and key, and a file that cannot be used: nothing makes a connection less safe than it was told.
 */
export function temporalSettings(environment: Environment = process.env): TemporalSettings {
  const given = Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ''),
  );
  checkVariables(given);
  const usesFile = 'TEMPORAL_CONFIG_FILE' in given || 'TEMPORAL_PROFILE' in given;
  try {
    const profile = loadClientConfigProfile({ overrideEnvVars: given, disableFile: !usesFile, configFileStrict: true });
    const { clientCert, clientKey } = profile.tls ?? {};
    if ((clientCert === undefined) !== (clientKey === undefined)) {
      throw new UnusableTemporalSettings('the client’s certificate and key belong together: give both or neither');
    }
    const { namespace, connectionOptions } = toClientOptions(profile);
    const { address, tls, apiKey, metadata } = connectionOptions;
    checkCertificates(tls);
    if (apiKey !== undefined && tls === false) {
      throw new UnusableTemporalSettings(
        'TEMPORAL_API_KEY is sent over TLS only: leave TEMPORAL_TLS out or set it to true',
      );
    }
    return {
      namespace: namespace ?? 'default',
      connection: {
        address: address ?? '127.0.0.1:7233',
        ...(tls === undefined || tls === null ? {} : { tls }),
        ...(apiKey === undefined ? {} : { apiKey }),
        ...(metadata === undefined ? {} : { metadata: metadata as Record<string, string> }),
      },
    };
  } catch (error) {
    if (error instanceof UnusableTemporalSettings) throw error;
    throw new UnusableTemporalSettings(`the settings of Temporal cannot be used: ${(error as Error).message}`);
  }
}

function checkVariables(given: Record<string, string>): void {
  for (const name of Object.keys(given)) {
    if (name.startsWith('TEMPORAL_TLS') && !tlsVariables.includes(name)) {
      throw new UnusableTemporalSettings(`${name} is not known; known are ${tlsVariables.join(', ')}`);
    }
  }
  if (given.TEMPORAL_TLS !== undefined && !/^(?:true|false|1|0)$/.test(given.TEMPORAL_TLS)) {
    throw new UnusableTemporalSettings('TEMPORAL_TLS must be true or false');
  }
  const file = given.TEMPORAL_CONFIG_FILE;
  if (file !== undefined && !existsSync(file)) {
    throw new UnusableTemporalSettings(`the file ${file} of TEMPORAL_CONFIG_FILE does not exist`);
  }
}

function checkCertificates(tls: unknown): void {
  if (typeof tls !== 'object' || tls === null) return;
  const { serverRootCACertificate: ca, clientCertPair: pair } = tls as {
    serverRootCACertificate?: Uint8Array;
    clientCertPair?: { crt: Uint8Array; key: Uint8Array };
  };
  createSecureContext({
    ...(ca ? { ca: Buffer.from(ca) } : {}),
    ...(pair ? { cert: Buffer.from(pair.crt), key: Buffer.from(pair.key) } : {}),
  });
}
