import { GatewayOutcomeUnknown } from '../payment-gateway.ts';
import type { ProviderAccount, ProviderAdapter } from '../provider-adapter.ts';
import type { ListedEvent } from '../provider-notification.ts';
import { askNomod, nomodClient } from './client.ts';
import { openNomodGateway } from './gateway.ts';
import { listNomodRefunds, nomodNotifications } from './notification.ts';

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
    events: ({ api_key = '' }, since) => events(api_key, baseUrl, since),
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

/** Refunds since an instant, of an account whose key is good: a refusal to list charges alone says nothing about it. */
async function events(apiKey: string, baseUrl: string | undefined, since: string): Promise<ListedEvent[]> {
  const { status } = await account(apiKey, baseUrl);
  if (status === 'refused') {
    throw new GatewayOutcomeUnknown(
      'nomod refuses the key of the connection: check that it is complete and not revoked',
    );
  }
  if (status === 'unknown') throw new GatewayOutcomeUnknown('nomod did not answer');
  return listNomodRefunds(nomodClient({ apiKey, baseUrl }), since);
}
