import type { Client } from '@temporalio/client';
import type { Config } from '../config.ts';
import type { Database } from '../db/orm.ts';
import type { AwsRoles } from '../integrations/aws-roles.ts';
import type { OutgoingPolicy } from '../integrations/guarded-client.ts';
import type { PaymentGateways } from '../integrations/payment-gateway.ts';
import type { ProviderAdapters } from '../integrations/provider-adapter.ts';
import type { UsageStore } from '../metering/usage-store.ts';
import type { PortalConfig } from './customer/portal-token.ts';
import type { StreamLimits } from './event/event-stream.ts';
import type { LoggerOptions } from './logging.ts';

/** Limits of a process that listens. One that is left out is off, or as Node has it. */
export type ServerLimits = Pick<
  Config,
  | 'rateLimitPerTenantPerSecond'
  | 'rateLimitPerAddressPerSecond'
  | 'requestTimeoutMs'
  | 'headersTimeoutMs'
  | 'maxConnections'
  | 'bodyMemoryMib'
>;

/** What the API needs of the world. Whoever makes them closes them; a test passes its own. */
export interface AppDependencies {
  config: Pick<Config, 'rateLimitPerSecond' | 'maxEventLoopDelayMs' | 'trustProxy'> &
    PortalConfig &
    Partial<Pick<Config, 'secretEncryptionKeys' | 'timerSpreadMs'>> &
    Partial<ServerLimits>;
  database: Database;
  temporal: Client;
  metering: UsageStore;
  gateways: PaymentGateways;
  /** Providers that are reached through connections; none when absent. */
  providers?: ProviderAdapters;
  /** Roles at AWS; without it there are no connections to its marketplace. */
  awsRoles?: AwsRoles;
  /** Where files of imports may come from; public https addresses alone when absent. */
  outgoing?: OutgoingPolicy;
  /** Addresses webhooks may go to; public https ones alone when absent. */
  webhooks?: OutgoingPolicy;
  /** Bounds of event streams other than the usual ones. */
  eventStreams?: Partial<StreamLimits>;
  /** What to log and where to; `false` for nothing. */
  logger: LoggerOptions | false;
}

declare module 'fastify' {
  interface FastifyInstance {
    dependencies: AppDependencies;
  }
}
