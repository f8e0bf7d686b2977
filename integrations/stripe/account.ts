import type { ProviderAccount } from '../provider-adapter.ts';
import { callProvider } from '../provider-call.ts';
import { stripeUrl, stripeVersion } from './client.ts';

/** The account that a key calls for. A restricted key may not ask, which refuses nothing else. */
export async function stripeAccount(
  secrets: Readonly<Record<string, string>>,
  baseUrl: string = stripeUrl,
): Promise<ProviderAccount> {
  const { secret_key = '', account_id } = secrets;
  const headers = {
    authorization: `Bearer ${secret_key}`,
    'stripe-version': stripeVersion,
    ...(account_id ? { 'stripe-account': account_id } : {}),
  };
  try {
    const url = new URL('/v1/account', baseUrl);
    const { status, body } = await callProvider({
      provider: 'stripe',
      method: 'GET',
      url,
      headers,
      deadlineMs: 15_000,
    });
    if (status === 401) return { status: 'refused', member: 'secret_key' };
    if (status === 403) return { status: 'known', id: account_id ?? null };
    return typeof body.id === 'string' ? { status: 'known', id: body.id } : { status: 'unknown' };
  } catch {
    return { status: 'unknown' };
  }
}
