import { createHmac } from 'node:crypto';
import { refuse } from '../../billing/refusal.ts';
import { hashOfToken, tokenByKey } from '../../services/payment/checkout/checkout-token.ts';
import type { PortalConfig } from '../customer/portal-token.ts';

/**
 * The token of a session's page: 130 bits that only a holder of the signing key can tell from its id. It is stored as a hash, and made anew
 * when the page's address is shown. Throws `not_implemented` without a key. design: money-in-checkout §B14
 */
export function checkoutToken(config: PortalConfig, sessionId: string): string {
  const [key] = config.portalSigningKeys ?? [];
  if (key === undefined) {
    const problem = 'payment pages are not configured; set PORTAL_SIGNING_KEYS for the API';
    throw refuse('not_implemented', problem, { fields: { checkout: 'needs PORTAL_SIGNING_KEYS' } });
  }
  return tokenByKey(key, sessionId);
}

/** The token behind a stored hash, whichever of the keys made it; null when none of them did. */
export function storedCheckoutToken(config: PortalConfig, sessionId: string, tokenHash: string): string | null {
  const tokens = (config.portalSigningKeys ?? []).map((key) => tokenByKey(key, sessionId));
  return tokens.find((token) => hashOfToken(token) === tokenHash) ?? null;
}

/** A token that forms of the page carry, so that no other site can post them. */
export function checkoutFormToken(config: PortalConfig, token: string): string {
  const [key = ''] = config.portalSigningKeys ?? [];
  return createHmac('sha256', key).update(`perennial checkout form ${token}`).digest('base64url');
}
