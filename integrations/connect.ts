import { type PaymentGateways, paymentGateways } from './payment-gateway.ts';
import { type ProviderAdapters, type ProviderUrls, providerAdapters } from './provider-adapter.ts';
import { openSandboxGateway } from './sandbox-gateway/gateway.ts';

/**
 * Connects the gateways of one process: the sandbox gateway, which keeps its own books in its own schema, and the providers, each of which
 * is opened for the connection that a payment belongs to.
 */
export function connectGateways(config: { databaseUrl: string; providerUrls?: ProviderUrls }): {
  registry: PaymentGateways;
  providers: ProviderAdapters;
  close(): Promise<void>;
} {
  const sandbox = openSandboxGateway({ url: config.databaseUrl });
  return {
    registry: paymentGateways([sandbox]),
    providers: providerAdapters(config.providerUrls),
    close: () => sandbox.close(),
  };
}
