import type { Transaction } from '../../db/transaction.ts';
import type { ProviderPageWay } from '../../integrations/provider-adapter.ts';
import { bindConnection } from '../../services/collection/payment-connection.ts';
import { openSecrets } from '../../services/integration/connection-secret.ts';
import type { CheckoutPage } from '../../services/payment/checkout/checkout-page.ts';
import type { AppDependencies } from '../dependencies.ts';

/**
 * The provider's part of the page of a session, of the account that its link was opened at; null where its provider has a page of its own,
 * and where the connection lacks what it needs or cannot be opened here. design: money-in-checkout §A1, §C paddle, moyasar
 */
export async function pageWayOf(
  { config, providers }: Pick<AppDependencies, 'config' | 'providers'>,
  tx: Transaction,
  { id, paymentId, paymentProvider: provider, providerUrl, providerSessionId }: CheckoutPage,
): Promise<ProviderPageWay | null> {
  const adapter = providers?.get(provider);
  if (!adapter?.pageWay || providerUrl !== null || providerSessionId === null) return null;
  const object =
    paymentId === null ? ({ kind: 'checkout_session', id } as const) : ({ kind: 'payment', id: paymentId } as const);
  const connection = await bindConnection(tx, { ...object, provider });
  if (!connection) return null;
  try {
    const secrets = openSecrets(config.secretEncryptionKeys ?? [], connection);
    return secrets && adapter.pageWay(secrets);
  } catch {
    return null;
  }
}
