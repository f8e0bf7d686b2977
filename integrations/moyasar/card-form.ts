import type { ProviderCardForm } from '../provider-adapter.ts';
import { moyasarUrl } from './client.ts';

/** The mode of a key by its prefix, `sk_` or `pk_`; null where it has none. */
export function modeOfKey(key: string): 'test' | 'live' | null {
  const mode = /^[sp]k_(test|live)_/.exec(key)?.[1];
  return mode === 'test' || mode === 'live' ? mode : null;
}

/**
 * Where a payer's browser sends a card on our page: to Moyasar, under the publishable key, which may only have cards kept and be seen by
 * everybody. Null where the connection has no such key. `baseUrl` is the address of a fake. design: money-in-checkout §C moyasar; docs: providers.md
 */
export function moyasarCardForm(publishableKey: string, baseUrl: string = moyasarUrl): ProviderCardForm | null {
  if (publishableKey === '') return null;
  const { origin, href } = new URL('/v1/tokens', baseUrl);
  return {
    kind: 'card_form',
    provider: 'Moyasar',
    tokensUrl: href,
    publishableKey,
    isTest: modeOfKey(publishableKey) === 'test',
    connects: [origin],
  };
}
