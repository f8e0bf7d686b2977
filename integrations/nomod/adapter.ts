import type { ProviderAccount, ProviderAdapter } from '../provider-adapter.ts';
import { askNomod } from './client.ts';
import { openNomodGateway } from './gateway.ts';
import { nomodNotifications } from './notification.ts';

/** Nomod as a provider; `baseUrl` is another address than its own: that of a fake. */
export function nomodAdapter(baseUrl?: string): ProviderAdapter {
  return {
    name: 'nomod',
    refunds: true,
    links: true,
    savesMethods: false,
    open: ({ api_key = '' }) => openNomodGateway({ apiKey: api_key, baseUrl }),
    account: ({ api_key = '' }) => account(api_key, baseUrl),
    notifications: nomodNotifications,
  };
}

/** An id that no checkout has. */
const nobodys = '00000000-0000-0000-0000-000000000000';

/** Whether Nomod takes a key for its Hosted Checkout: asked for a checkout that is nobody's. It names no account. */
async function account(apiKey: string, baseUrl: string | undefined): Promise<ProviderAccount> {
  try {
    const { status } = await askNomod({ apiKey, baseUrl, deadlineMs: 15_000 }, 'GET', `/checkout/${nobodys}`);
    if (status === 401 || status === 403) return { status: 'refused', member: 'api_key' };
    return status === 404 || status < 300 ? { status: 'known', id: null } : { status: 'unknown' };
  } catch {
    return { status: 'unknown' };
  }
}
