import type { ProviderAdapter } from '../provider-adapter.ts';
import { razorpayAccount } from './account.ts';
import { razorpayClient } from './client.ts';
import { openRazorpayGateway } from './gateway.ts';
import { listRazorpayRefunds, razorpayNotifications } from './notification.ts';

/** Razorpay as a provider; `baseUrl` is another address than its own: that of a fake. */
export function razorpayAdapter(baseUrl?: string): ProviderAdapter {
  return {
    name: 'razorpay',
    refunds: true,
    links: true,
    savesMethods: true,
    keepsPaid: ['UPI'],
    decidesLater: true,
    open: ({ key_id: keyId = '', secret_key: secretKey = '' }) => openRazorpayGateway({ keyId, secretKey, baseUrl }),
    account: (secrets) => razorpayAccount(secrets, baseUrl),
    notifications: razorpayNotifications,
    events: ({ key_id: keyId = '', secret_key: secretKey = '' }, since) =>
      listRazorpayRefunds(razorpayClient({ keyId, secretKey, baseUrl }), since),
  };
}
