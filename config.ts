import { isIP } from 'node:net';
import { z } from 'zod';
import './validation-text.ts';
import { databaseConnection, UnusableDatabaseUrl } from './database-url.ts';
import type { ProviderUrls } from './integrations/connect.ts';
import type { OutgoingPolicy } from './integrations/guarded-client.ts';
import { providers, urlVariable } from './integrations/providers.ts';
import { type TemporalSettings, temporalSettings, UnusableTemporalSettings } from './temporal-connection.ts';
import { isTrustedProxy, trustedProxy } from './trust-proxy.ts';

const port = (fallback: number) => z.coerce.number().int().min(0).max(65_535).default(fallback);
const list = () =>
  z
    .string()
    .default('')
    .transform((text) => text.split(',').flatMap((entry) => entry.trim() || []));
/** Keys of one tenant whose whole shares it may use at once. */
const tenantShare = 10;

const payable = providers.filter(({ adapter }) => adapter !== undefined);
/** Addresses asked instead of the providers' own: fakes that move no money. */
const providerUrls = z.object(
  Object.fromEntries(payable.map((provider) => [urlVariable(provider), z.url({ protocol: /^https?$/ }).optional()])),
);

const schema = z
  .object({
    /** PostgreSQL as the application role: owns no table, so row-level security applies to it. */
    DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
    /** PostgreSQL as the role that owns the tables; only migrations use it. */
    DATABASE_OWNER_URL: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
    DATABASE_POOL_SIZE: z.coerce.number().int().min(1).max(500).default(20),
    HOST: z.string().min(1).default('127.0.0.1'),
    PORT: port(8080),
    /** Where a worker serves its metrics for Prometheus; it serves none without. */
    METRICS_ADDRESS: z
      .string()
      .regex(/^(\d{1,3}(\.\d{1,3}){3}|\[[\da-f:]+\]):\d{1,5}$/i, 'must be an IP address and a port, as 127.0.0.1:9464')
      .optional(),
    LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
    /** Requests a second for one API key or portal session, with bursts of twice as many; 0 switches it off. spec: platform §1.9 */
    RATE_LIMIT_PER_SECOND: z.coerce.number().int().min(0).max(1_000_000).default(100),
    /** The same for all keys and sessions of one tenant together; ten times the limit of one key without. */
    RATE_LIMIT_PER_TENANT_PER_SECOND: z.coerce.number().int().min(0).max(10_000_000).optional(),
    /** Requests a second from one address that show no valid credential, ten seconds' worth at once; 0 switches it off. */
    RATE_LIMIT_PER_ADDRESS_PER_SECOND: z.coerce.number().int().min(0).max(1_000_000).default(20),
    /** Longest time a request may take to arrive, and its headers alone. */
    REQUEST_TIMEOUT_MS: z.coerce.number().int().min(1_000).max(3_600_000).default(60_000),
    HEADERS_TIMEOUT_MS: z.coerce.number().int().min(1_000).max(3_600_000).default(10_000),
    /** Connections of one process at once; more are closed at once. */
    MAX_CONNECTIONS: z.coerce.number().int().min(1).max(100_000).default(2_000),
    /** Mebibytes of bodies that one process reads and works on at once. 48 is one of the largest, beside small ones. */
    BODY_MEMORY_MIB: z.coerce.number().int().min(48).max(65_536).default(96),
    /** Above this delay of the event loop requests are answered 503; 0 switches it off. */
    MAX_EVENT_LOOP_DELAY_MS: z.coerce.number().int().min(0).default(2_000),
    /** Proxies in front whose `X-Forwarded-*` headers are believed: how many there are (true is one), or their addresses. */
    TRUST_PROXY: z
      .string()
      .default('false')
      .refine(isTrustedProxy, 'must be true, false, the number of proxies, or their addresses and networks by commas')
      .transform(trustedProxy),
    /** Sign portal sessions and addresses of PDFs: the first signs, the others are still accepted. Without one there are neither. */
    PORTAL_SIGNING_KEYS: z
      .string()
      .default('')
      .transform((text) => text.split(',').filter((key) => key !== ''))
      .refine(
        (keys) => keys.every((key) => key.length >= 32),
        'must be keys of 32 characters or more, comma separated',
      ),
    /** Seal the secrets of connections: the first seals, the others still open. Without one no secret can be kept. */
    SECRET_ENCRYPTION_KEYS: z
      .string()
      .default('')
      .transform((text) => text.split(',').filter((entry) => entry !== ''))
      .refine(
        (entries) => entries.every((entry) => /^[\w-]{1,32}:[0-9a-f]{64}$/i.test(entry)),
        'must be keys as <name>:<64 hexadecimal digits>, comma separated',
      )
      .transform((entries) => entries.map((entry) => ({ id: entry.slice(0, -65), key: entry.slice(-64) })))
      .refine((keys) => new Set(keys.map(({ id }) => id)).size === keys.length, 'must not name two keys alike'),
    /** This installation's own account at AWS, which the roles of AWS Marketplace connections trust. */
    AWS_MARKETPLACE_ACCESS_KEY_ID: z.string().optional(),
    AWS_MARKETPLACE_SECRET_ACCESS_KEY: z.string().optional(),
    /** Asked instead of the region's own endpoint of STS. */
    AWS_STS_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
    /** Address under which payers reach the API, for payment pages that workers open. */
    PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
    /** The operator's portal, to which customers are sent with their session. */
    PORTAL_URL: z.url({ protocol: /^https?$/ }).optional(),
    /** Timers that fall on one instant, as on the first of a month, are spread over this window; boundaries stay exact. */
    TIMER_SPREAD_SECONDS: z.coerce.number().int().min(0).max(3_600).default(0),
    /** A file with the workflows bundled before (`bundleWorkflows`); else a worker takes the bundle of its last start, or makes one. */
    WORKFLOW_BUNDLE: z.string().optional(),
    /** Hosts, with or without a port, that files of imports may come from although they are private or plain http; by commas. */
    OUTGOING_ALLOWED_HOSTS: list(),
    /** The same for receivers of webhooks. */
    WEBHOOK_ALLOWED_HOSTS: list(),
    /** Translators from IPv6 to IPv4 of this network: what is behind one is judged by its IPv4 address; by commas. */
    OUTGOING_NAT64_PREFIXES: list().refine(
      (prefixes) => prefixes.every((prefix) => /^[\da-f:]+::\/96$/i.test(prefix) && isIP(prefix.slice(0, -3)) === 6),
      'must be prefixes of 96 bits, as 64:ff9b::/96, comma separated',
    ),
    /** Days after which events may be dropped whose time is final; they are kept for good without it. */
    EVENT_RETENTION_DAYS: z.coerce
      .number()
      .int()
      .min(400, 'must be 400 or more: no allowance lasts longer')
      .max(36_500)
      .optional(),
    /** Days for which outbound events are kept; longer while a webhook endpoint waits for them. */
    OUTBOUND_EVENT_RETENTION_DAYS: z.coerce
      .number()
      .int()
      .min(35, 'must be 35 or more: a replay reaches back 30 days')
      .max(36_500)
      .default(90),
    /** Where aggregates of usage are read from: PostgreSQL alone, or ClickHouse, which a workflow feeds from PostgreSQL. */
    USAGE_ENGINE: z.enum(['postgres', 'clickhouse'], 'must be postgres or clickhouse').default('postgres'),
    CLICKHOUSE_URL: z
      .url({ protocol: /^https?$/ })
      .refine(
        (url) => /^\/\w+$/.test(new URL(url).pathname),
        'must name a database, as http://user:password@host:8123/perennial',
      )
      .optional(),
    /** How long a stopping process waits for requests under way. */
    SHUTDOWN_TIMEOUT_MS: z.coerce.number().int().min(0).default(15_000),
  })
  .refine(({ USAGE_ENGINE, CLICKHOUSE_URL }) => USAGE_ENGINE !== 'clickhouse' || CLICKHOUSE_URL !== undefined, {
    path: ['CLICKHOUSE_URL'],
    error: 'is required with USAGE_ENGINE=clickhouse, as http://user:password@host:8123/perennial',
  })
  .refine((values) => !values.AWS_MARKETPLACE_ACCESS_KEY_ID === !values.AWS_MARKETPLACE_SECRET_ACCESS_KEY, {
    path: ['AWS_MARKETPLACE_SECRET_ACCESS_KEY'],
    error: 'is required with AWS_MARKETPLACE_ACCESS_KEY_ID, and the other way round',
  });

/** The configuration of one process. design: architecture §1 */
export interface Config {
  databaseUrl: string;
  databaseOwnerUrl: string | null;
  databasePoolSize: number;
  /** By Temporal's standard variables. */
  temporal: TemporalSettings;
  host: string;
  port: number;
  metricsAddress: string | null;
  logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';
  rateLimitPerSecond: number;
  rateLimitPerTenantPerSecond: number;
  rateLimitPerAddressPerSecond: number;
  requestTimeoutMs: number;
  headersTimeoutMs: number;
  maxConnections: number;
  bodyMemoryMib: number;
  maxEventLoopDelayMs: number;
  /** Number of proxies in front, or their addresses; false when there is none. */
  trustProxy: false | number | string[];
  portalSigningKeys: readonly string[];
  portalUrl: string;
  publicUrl: string;
  secretEncryptionKeys: readonly { id: string; key: string }[];
  /** Null where there are no connections to AWS Marketplace. */
  awsMarketplace: { accessKeyId: string; secretAccessKey: string; endpoint: string | null } | null;
  /** Addresses of providers other than their own. */
  providerUrls: ProviderUrls;
  timerSpreadMs: number;
  workflowBundle: string | null;
  /** Addresses beyond public https ones that files of imports may come from, and that webhooks may go to. */
  outgoing: OutgoingPolicy;
  webhooks: OutgoingPolicy;
  eventRetentionDays: number | null;
  outboundEventRetentionDays: number;
  /** Null where PostgreSQL is the usage engine. */
  clickhouseUrl: string | null;
  shutdownTimeoutMs: number;
}

/** The environment cannot be used; the message names each bad variable. */
export class UnusableConfiguration extends Error {}

/** The configuration of this process, for entry files: what is not usable is said in a sentence, and the process ends with 1. */
export function readConfigOrExit(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (!(error instanceof UnusableConfiguration)) throw error;
    return endWith(error.message);
  }
}

/** Ends a process that cannot start, with a sentence instead of a stack. */
export function endWith(sentence: string): never {
  console.error(sentence);
  process.exit(1);
}

/** Ends a process whose database does not answer when it starts; whoever runs it starts it again. */
export function endWithoutDatabase(error: Error): never {
  return endWith(`The database of DATABASE_URL does not answer: ${error.message}`);
}

/**
 * Reads the configuration from environment variables. An empty variable
 * counts as unset. Throws an UnusableConfiguration that names each bad variable and what is wrong with it, never its value.
 */
export function readConfig(environment: Record<string, string | undefined>): Config {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const result = schema.safeParse(given);
  const urls = providerUrls.safeParse(given);
  const problems = [
    ...[result, urls]
      .flatMap(({ error }) => error?.issues ?? [])
      .map((issue) => `${issue.path.join('.')}: ${issue.message}`),
    ...(result.success ? [...urlProblems(result.data, given), ...temporalProblems(given)] : []),
  ];
  if (!result.success || problems.length > 0) {
    throw new UnusableConfiguration(`The configuration is not usable. ${problems.join('; ')}.`);
  }
  const values = result.data;
  return {
    databaseUrl: values.DATABASE_URL,
    databaseOwnerUrl: values.DATABASE_OWNER_URL ?? null,
    databasePoolSize: values.DATABASE_POOL_SIZE,
    temporal: temporalSettings(given),
    host: values.HOST,
    port: values.PORT,
    metricsAddress: values.METRICS_ADDRESS ?? null,
    logLevel: values.LOG_LEVEL,
    rateLimitPerSecond: values.RATE_LIMIT_PER_SECOND,
    rateLimitPerTenantPerSecond: values.RATE_LIMIT_PER_TENANT_PER_SECOND ?? values.RATE_LIMIT_PER_SECOND * tenantShare,
    rateLimitPerAddressPerSecond: values.RATE_LIMIT_PER_ADDRESS_PER_SECOND,
    requestTimeoutMs: values.REQUEST_TIMEOUT_MS,
    headersTimeoutMs: values.HEADERS_TIMEOUT_MS,
    maxConnections: values.MAX_CONNECTIONS,
    bodyMemoryMib: values.BODY_MEMORY_MIB,
    maxEventLoopDelayMs: values.MAX_EVENT_LOOP_DELAY_MS,
    trustProxy: values.TRUST_PROXY,
    portalSigningKeys: values.PORTAL_SIGNING_KEYS,
    portalUrl: values.PORTAL_URL ?? `http://${values.HOST}:${values.PORT}/portal`,
    publicUrl: (values.PUBLIC_URL ?? `http://${values.HOST}:${values.PORT}`).replace(/\/+$/, ''),
    secretEncryptionKeys: values.SECRET_ENCRYPTION_KEYS,
    awsMarketplace: awsMarketplace(values),
    providerUrls: Object.fromEntries(payable.map((provider) => [provider.name, given[urlVariable(provider)]])),
    timerSpreadMs: values.TIMER_SPREAD_SECONDS * 1000,
    workflowBundle: values.WORKFLOW_BUNDLE ?? null,
    webhooks: { allowedHosts: values.WEBHOOK_ALLOWED_HOSTS, nat64Prefixes: nat64Prefixes(values) },
    outgoing: { allowedHosts: values.OUTGOING_ALLOWED_HOSTS, nat64Prefixes: nat64Prefixes(values) },
    eventRetentionDays: values.EVENT_RETENTION_DAYS ?? null,
    outboundEventRetentionDays: values.OUTBOUND_EVENT_RETENTION_DAYS,
    clickhouseUrl: values.USAGE_ENGINE === 'clickhouse' ? (values.CLICKHOUSE_URL ?? null) : null,
    shutdownTimeoutMs: values.SHUTDOWN_TIMEOUT_MS,
  };
}

/** Problems of the URLs of databases: a process that would connect in another way than it was told does not start. */
function urlProblems(values: z.output<typeof schema>, environment: Record<string, string | undefined>): string[] {
  return (['DATABASE_URL', 'DATABASE_OWNER_URL'] as const).flatMap((name) => {
    const url = values[name];
    if (url === undefined) return [];
    try {
      databaseConnection(url, environment);
      return [];
    } catch (error) {
      if (!(error instanceof UnusableDatabaseUrl)) throw error;
      return [`${name}: ${error.message}`];
    }
  });
}

function temporalProblems(environment: Record<string, string | undefined>): string[] {
  try {
    temporalSettings(environment);
    return [];
  } catch (error) {
    if (!(error instanceof UnusableTemporalSettings)) throw error;
    return [error.message];
  }
}

function nat64Prefixes({ OUTGOING_NAT64_PREFIXES }: z.output<typeof schema>): string[] {
  return OUTGOING_NAT64_PREFIXES.map((prefix) => prefix.slice(0, -'/96'.length));
}

function awsMarketplace(values: z.output<typeof schema>): Config['awsMarketplace'] {
  const { AWS_MARKETPLACE_ACCESS_KEY_ID: accessKeyId, AWS_MARKETPLACE_SECRET_ACCESS_KEY: secretAccessKey } = values;
  if (!accessKeyId || !secretAccessKey) return null;
  return { accessKeyId, secretAccessKey, endpoint: values.AWS_STS_ENDPOINT ?? null };
}
