import { type PaymentGateways, paymentGateways } from './payment-gateway.ts';
import type { ProviderAdapters } from './provider-adapter.ts';
import { providers } from './providers.ts';
import { openSandboxGateway } from './sandbox-gateway/gateway.ts';

/** Addresses of providers other than their own, by their names: fakes. */
export type ProviderUrls = Readonly<Record<string, string | undefined>>;

/** The providers that payments can be made through, by name. docs: providers.md */
export function providerAdapters(urls: ProviderUrls = {}): ProviderAdapters {
  return new Map(providers.flatMap(({ name, adapter }) => (adapter ? [[name, adapter(urls[name])] as const] : [])));
}

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
