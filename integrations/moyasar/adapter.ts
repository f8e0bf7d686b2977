import type { ProviderAccount, ProviderAdapter } from '../provider-adapter.ts';
import { moyasarCardForm } from './card-form.ts';
import { askMoyasar, moyasarClient } from './client.ts';
import { openMoyasarGateway } from './gateway.ts';
import { listMoyasarPayments, moyasarNotifications } from './notification.ts';

/** Moyasar as a provider; `baseUrl` is another address than its own: that of a fake. */
export function moyasarAdapter(baseUrl?: string): ProviderAdapter {
  return {
    name: 'moyasar',
    refunds: true,
    links: true,
    savesMethods: true,
    keepsPaid: [],
    open: ({ secret_key = '', publishable_key = null }) =>
      openMoyasarGateway({ secretKey: secret_key, publishableKey: publishable_key, baseUrl }),
    account: ({ secret_key = '' }) => account(secret_key, baseUrl),
    notifications: moyasarNotifications,
    events: ({ secret_key: secretKey = '' }, since) =>
      listMoyasarPayments(moyasarClient({ secretKey, baseUrl }), since),
    pageWay: ({ publishable_key = '' }) => moyasarCardForm(publishable_key, baseUrl),
  };
}

/** Whether Moyasar takes a key. It names no account. */
async function account(secretKey: string, baseUrl: string | undefined): Promise<ProviderAccount> {
  try {
    const options = { secretKey, baseUrl, deadlineMs: 15_000 };
    const { status } = await askMoyasar(options, 'GET', '/invoices');
    if (status === 401 || status === 403) return { status: 'refused', member: 'secret_key' };
    return status < 300 ? { status: 'known', id: null } : { status: 'unknown' };
  } catch {
    return { status: 'unknown' };
  }
}
