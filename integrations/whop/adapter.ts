import type { ProviderAccount, ProviderAdapter } from '../provider-adapter.ts';
import { askWhop, type WhopOptions, whopClient, whopHosts } from './client.ts';
import { openWhopGateway } from './gateway.ts';
import { listWhopEvents, whopNotifications } from './notification.ts';

type Hosts = Partial<Record<'live' | 'test', string>>;

/** Whop as a provider. `other` is another address than its own, that of a fake, or a pair of them. */
export function whopAdapter(other?: string | Hosts): ProviderAdapter {
  const hosts: Hosts = typeof other === 'string' ? { test: other } : (other ?? whopHosts);
  const optionsOf = (secrets: Readonly<Record<string, string>>): WhopOptions => ({
    apiKey: secrets.api_key ?? '',
    companyId: secrets.company_id ?? '',
    productId: secrets.product_id ?? null,
    hosts: Object.values(hosts),
  });
  return {
    name: 'whop',
    refunds: true,
    links: true,
    savesMethods: true,
    decidesLater: true,
    open: (secrets) => openWhopGateway(optionsOf(secrets)),
    account: (secrets) => account(optionsOf(secrets), hosts),
    notifications: whopNotifications,
    events: (secrets, since) => listWhopEvents(whopClient(optionsOf(secrets)), since),
  };
}

/** Whether a key calls for the account that is named beside it, and whether money moves there: each of the two addresses has its own keys. */
async function account(options: WhopOptions, hosts: Hosts): Promise<ProviderAccount> {
  try {
    for (const [told, host] of Object.entries(hosts) as ['live' | 'test', string][]) {
      const query = { account_id: options.companyId, first: '1' };
      const asked = { ...options, deadlineMs: 15_000 };
      const { status } = await askWhop(asked, host, 'GET', '/checkout_configurations', { query });
      if (status === 401) continue;
      if (status >= 400) return { status: 'refused', member: 'company_id' };
      return { status: 'known', id: options.companyId, mode: { member: 'api_key', told } };
    }
    return { status: 'refused', member: 'api_key' };
  } catch {
    return { status: 'unknown' };
  }
}
