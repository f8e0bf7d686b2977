import type { ProviderAccount, ProviderAdapter } from '../provider-adapter.ts';
import { askChargebee, type ChargebeeOptions, chargebeeClient } from './client.ts';
import { openChargebeeGateway } from './gateway.ts';
import { chargebeeNotifications, listChargebeeEvents } from './notification.ts';

/** Chargebee as a provider; `baseUrl` is asked instead of every site's own address: that of a fake. */
export function chargebeeAdapter(baseUrl?: string): ProviderAdapter {
  const optionsOf = ({ site = '', api_key: apiKey = '' }: Readonly<Record<string, string>>) => ({
    site,
    apiKey,
    baseUrl,
  });
  return {
    name: 'chargebee',
    refunds: true,
    links: true,
    savesMethods: true,
    open: (secrets) => openChargebeeGateway(optionsOf(secrets)),
    account: (secrets) => account(optionsOf(secrets)),
    notifications: chargebeeNotifications,
    events: (secrets, since) => listChargebeeEvents(chargebeeClient(optionsOf(secrets)), since),
  };
}

/** Whether Chargebee takes a key for its site, which is the account. */
async function account(options: ChargebeeOptions): Promise<ProviderAccount> {
  try {
    const query = { limit: '1' };
    const { status, body } = await askChargebee({ ...options, deadlineMs: 15_000 }, 'GET', '/hosted_pages', { query });
    if (body.api_error_code === 'site_not_found') return { status: 'refused', member: 'site' };
    if (status === 401 || status === 403) return { status: 'refused', member: 'api_key' };
    return status < 300 ? { status: 'known', id: options.site.toLowerCase() } : { status: 'unknown' };
  } catch {
    return { status: 'unknown' };
  }
}
