import type { ProviderAccount } from '../provider-adapter.ts';
import { callProvider } from '../provider-call.ts';
import { authorizationOf, razorpayUrl } from './client.ts';

/**
 * Whether a key calls for an account. Which one it is Razorpay does not say, so its id is null, and two keys of one account cannot be told
 * from those of two.
 */
export async function razorpayAccount(
  secrets: Readonly<Record<string, string>>,
  baseUrl: string = razorpayUrl,
): Promise<ProviderAccount> {
  const { key_id: keyId = '', secret_key: secretKey = '' } = secrets;
  try {
    const { status, body } = await callProvider({
      provider: 'razorpay',
      method: 'GET',
      url: new URL('/v1/payments?count=1', baseUrl),
      headers: authorizationOf({ keyId, secretKey }),
      deadlineMs: 15_000,
    });
    if (status === 401) return { status: 'refused', member: refusedMember(body) };
    return Array.isArray(body.items) ? { status: 'known', id: null } : { status: 'unknown' };
  } catch {
    return { status: 'unknown' };
  }
}

/** Razorpay says which of the two is wrong in words alone. */
function refusedMember({ error }: Record<string, unknown>): string {
  const description = (error as Record<string, unknown> | undefined)?.description;
  return /secret/i.test(String(description)) ? 'secret_key' : 'key_id';
}
