import { chargebeeAdapter } from './chargebee/adapter.ts';
import { moyasarAdapter } from './moyasar/adapter.ts';
import { nomodAdapter } from './nomod/adapter.ts';
import { paddleAdapter } from './paddle/adapter.ts';
import { type PaymentGateways, paymentGateways } from './payment-gateway.ts';
import type { ProviderAdapters } from './provider-adapter.ts';
import { razorpayAdapter } from './razorpay/adapter.ts';
import { openSandboxGateway } from './sandbox-gateway/gateway.ts';
import { stripeAdapter } from './stripe/adapter.ts';
import { whopAdapter } from './whop/adapter.ts';

/** Addresses of providers other than their own: fakes. */
export interface ProviderUrls {
  chargebee?: string | undefined;
  moyasar?: string | undefined;
  nomod?: string | undefined;
  paddle?: string | undefined;
  razorpay?: string | undefined;
  stripe?: string | undefined;
  whop?: string | undefined;
}

/** The providers that payments can be made through, by name. docs: providers.md */
export function providerAdapters(urls: ProviderUrls = {}): ProviderAdapters {
  const adapters = [
    chargebeeAdapter(urls.chargebee),
    moyasarAdapter(urls.moyasar),
    nomodAdapter(urls.nomod),
    paddleAdapter(urls.paddle),
    razorpayAdapter(urls.razorpay),
    stripeAdapter(urls.stripe),
    whopAdapter(urls.whop),
  ];
  return new Map(adapters.map((adapter) => [adapter.name, adapter]));
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
