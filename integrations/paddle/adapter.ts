import type { ProviderAccount, ProviderAdapter } from '../provider-adapter.ts';
import { askPaddle, paddleClient } from './client.ts';
import { openPaddleGateway } from './gateway.ts';
import { listPaddleEvents, paddleNotifications } from './notification.ts';
import { paddleScript } from './script.ts';

/** Paddle as a provider; `baseUrl` is another address than its own: that of a fake. */
export function paddleAdapter(baseUrl?: string): ProviderAdapter {
  return {
    name: 'paddle',
    refunds: true,
    links: true,
    savesMethods: false,
    open: ({ api_key = '', client_side_token = null }) =>
      openPaddleGateway({ apiKey: api_key, clientToken: client_side_token, baseUrl }),
    account: ({ api_key = '' }) => account(api_key, baseUrl),
    notifications: paddleNotifications,
    events: ({ api_key = '' }, since) => listPaddleEvents(paddleClient({ apiKey: api_key, baseUrl }), since),
    pageWay: ({ api_key = '', client_side_token = '' }) => paddleScript(api_key, client_side_token, baseUrl),
  };
}

/** Whether Paddle takes a key. It names no account. */
async function account(apiKey: string, baseUrl: string | undefined): Promise<ProviderAccount> {
  try {
    const options = { apiKey, baseUrl, deadlineMs: 15_000 };
    const { status } = await askPaddle(options, 'GET', '/transactions', { query: { per_page: '1' } });
    if (status === 401 || status === 403) return { status: 'refused', member: 'api_key' };
    return status < 300 ? { status: 'known', id: null } : { status: 'unknown' };
  } catch {
    return { status: 'unknown' };
  }
}
