import { type PaymentGateways, paymentGateways } from './payment-gateway.ts';
import { openSandboxGateway } from './sandbox-gateway/gateway.ts';

/** Connects the gateways of one process: the sandbox gateway, which keeps its own books in its own schema. */
export function connectGateways(config: { databaseUrl: string }): {
  registry: PaymentGateways;
  close(): Promise<void>;
} {
  const sandbox = openSandboxGateway({ url: config.databaseUrl });
  return { registry: paymentGateways([sandbox]), close: () => sandbox.close() };
}
