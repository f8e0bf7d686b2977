import { chargebee } from './chargebee/provider.ts';
import { moyasar } from './moyasar/provider.ts';
import { nomod } from './nomod/provider.ts';
import { paddle } from './paddle/provider.ts';
import type { Provider } from './provider.ts';
import type { ProviderAdapters } from './provider-adapter.ts';
import type { ProviderNotifications } from './provider-notification.ts';
import {
  awsMarketplace,
  azureMarketplace,
  gcpMarketplace,
  hubspot,
  quickbooks,
  s3,
  tabs,
  zohoBooks,
} from './providers-without-payments.ts';
import { razorpay } from './razorpay/provider.ts';
import { stripe } from './stripe/provider.ts';
import { whop } from './whop/provider.ts';

/** The providers there are connections to. Everything that asks "which providers are there" reads this list. spec: platform §13 */
export const providers: readonly Provider[] = [
  stripe,
  s3,
  hubspot,
  razorpay,
  chargebee,
  quickbooks,
  zohoBooks,
  nomod,
  moyasar,
  paddle,
  whop,
  tabs,
  awsMarketplace,
  gcpMarketplace,
  azureMarketplace,
];

export const providerNames: readonly string[] = providers.map(({ name }) => name);

/** A provider of the list by its name. */
export function providerNamed(name: string): Provider {
  const found = providers.find((provider) => provider.name === name);
  if (!found) throw new Error(`there is no provider ${name}`);
  return found;
}

/** Notifications of a provider: those of its adapter, or its own where it takes no payments. spec: platform §16 */
export function notificationsOf(name: string, adapters?: ProviderAdapters): ProviderNotifications | undefined {
  return adapters?.get(name)?.notifications ?? providers.find((provider) => provider.name === name)?.notifications;
}

/** Variable of the configuration that holds another address of a provider than its own. */
export function urlVariable({ name }: Provider): string {
  return `${name.toUpperCase()}_API_URL`;
}
