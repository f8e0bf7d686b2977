import type { Database } from '../../db/orm.ts';
import { workflowScope } from '../../db/scope.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import type { PaymentGateway, PaymentGateways } from '../../integrations/payment-gateway.ts';
import type { ProviderAdapters } from '../../integrations/provider-adapter.ts';
import { bindConnection, type ProvidersObject } from '../../services/collection/payment-connection.ts';
import { type EnvelopeKeys, openSecrets } from '../../services/integration/connection-secret.ts';

/** The providers of a worker, and the keys that open the secrets of their connections. */
export interface ConnectedProviders {
  adapters: ProviderAdapters;
  secretKeys: EnvelopeKeys;
}

export interface GatewayAccess {
  database: Database;
  /** Gateways that need no connection. */
  gateways: PaymentGateways;
  providers?: ConnectedProviders | undefined;
}

/** The gateway of an object, or a sentence that says why there is none. */
export type OpenedGateway = { gateway: PaymentGateway; absent: null } | { gateway: null; absent: string };

/**
 * Opens the gateway that an object is asked about at: one of this process, or that of the connection the object is bound to. The secrets
 * are opened here, are in no argument and no result of an activity, and are gone with the conversation.
 * design: money-in-checkout §A1, money-in §4
 */
export async function openGateway(
  { database, gateways, providers }: GatewayAccess,
  owner: { tenantId: string; environmentId: string },
  object: ProvidersObject,
): Promise<OpenedGateway> {
  const absent = (reason: string): OpenedGateway => ({ gateway: null, absent: reason });
  const { provider } = object;
  const own = gateways.get(provider);
  if (own) return { gateway: own, absent: null };
  const adapter = providers?.adapters.get(provider);
  if (!adapter || !providers) return absent(`the gateway ${provider} is not connected to this worker`);
  const connection = await inSqlTransaction(database, workflowScope(owner), (tx) => bindConnection(tx, object));
  if (!connection) return absent(`the environment has no connection to ${provider}; connect it again`);
  try {
    const secrets = openSecrets(providers.secretKeys, connection);
    if (!secrets) return absent(`connection ${connection.id} to ${provider} was deleted and its secrets with it`);
    return { gateway: adapter.open(secrets), absent: null };
  } catch {
    return absent(
      `the secrets of connection ${connection.id} cannot be opened by this worker; see SECRET_ENCRYPTION_KEYS`,
    );
  }
}
