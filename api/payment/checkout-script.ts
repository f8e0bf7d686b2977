import type { Transaction } from '../../db/transaction.ts';
import type { ProviderScript } from '../../integrations/provider-adapter.ts';
import { openSecrets } from '../../services/integration/connection-secret.ts';
import type { CheckoutPage } from '../../services/payment/checkout/checkout-page.ts';
import { bindConnection } from '../../services/payment/payment-connection.ts';
import type { AppDependencies } from '../dependencies.ts';

/**
 * The script by which the page of a session is paid, of the account that its link was opened at; null where its provider has a page of its own,
 * and where the connection lacks what the script needs or cannot be opened here. design: money-in-checkout §A1, §C paddle
 */
export async function pageScriptOf(
  { config, providers }: Pick<AppDependencies, 'config' | 'providers'>,
  tx: Transaction,
  { paymentId, paymentProvider: provider }: CheckoutPage,
): Promise<ProviderScript | null> {
  const adapter = providers?.get(provider);
  if (!adapter?.script || paymentId === null) return null;
  const connection = await bindConnection(tx, { kind: 'payment', id: paymentId, provider });
  if (!connection) return null;
  try {
    const secrets = openSecrets(config.secretEncryptionKeys ?? [], connection);
    return secrets && adapter.script(secrets);
  } catch {
    return null;
  }
}
