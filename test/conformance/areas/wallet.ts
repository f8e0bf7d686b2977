import { expect } from 'vitest';
import { type AreaCalls, type Conversation, present } from '../conversation.ts';

/** Wallets of the customer that is kept; the one that is made is closed at the end. */
export function walletCalls({ client, api, made }: Conversation): Record<string, AreaCalls> {
  let walletId = '';
  const wallets: AreaCalls = {
    async createWallet() {
      const wallet = await client.wallets.createWallet({
        customerId: made.customerId,
        currency: 'eur',
        initialCreditsToLoad: '20',
        conversionRate: '0.5',
        metadata: { team: 'growth' },
      });
      expect(wallet).toMatchObject({
        customerId: made.customerId,
        currency: 'eur',
        walletType: 'PRE_PAID',
        walletStatus: 'active',
        metadata: { team: 'growth' },
      });
      expect([Number(wallet.creditBalance), Number(wallet.balance)]).toEqual([20, 10]);
      walletId = present(wallet.id);
    },
    async getWallet() {
      expect(await client.wallets.getWallet(walletId)).toMatchObject({ id: walletId, name: 'Prepaid Wallet - EUR' });
    },
    async updateWallet() {
      const autoTopup = { enabled: true, threshold: 5, amount: 10.5, invoicing: true };
      const updated = await client.wallets.updateWallet(walletId, { name: 'Growth', autoTopup });
      expect(updated).toMatchObject({ name: 'Growth', autoTopup });
    },
    async topUpWallet() {
      const answer = await client.wallets.topUpWallet(walletId, {
        transactionReason: 'PURCHASED_CREDIT_DIRECT',
        creditsToAdd: '10',
        idempotencyKey: 'conformance-1',
      });
      expect(answer).toMatchObject({ walletTransaction: { walletId, type: 'credit' }, wallet: { id: walletId } });
    },
    async getWalletTransactions() {
      const page = await client.wallets.getWalletTransactions({ idPathParameter: walletId, limit: 5 });
      expect(page).toMatchObject({ pagination: { total: 2 } });
    },
    async queryWalletTransaction() {
      const page = await client.wallets.queryWalletTransaction({ type: 'credit', limit: 5 });
      expect(present(page.items).length).toBeGreaterThan(1);
    },
    async getWalletBalance() {
      const balance = await client.wallets.getWalletBalance(walletId, 'credits_available_breakdown');
      expect(balance).toMatchObject({ id: walletId, creditsAvailableBreakdown: { free: '20', purchased: '10' } });
    },
    async queryWallet() {
      const page = await client.wallets.queryWallet({ walletIds: [walletId], status: 'active' });
      expect(page).toMatchObject({ items: [{ id: walletId }], pagination: { total: 1 } });
    },
    async getWalletsByCustomerId() {
      const wallets = await client.wallets.getWalletsByCustomerId(made.customerId);
      expect(wallets.map(({ id }) => id)).toContain(walletId);
    },
    async getCustomerWallets() {
      const wallets = await client.wallets.getCustomerWallets({ id: made.customerId, includeRealTimeBalance: true });
      expect(wallets.map(({ id }) => id)).toContain(walletId);
    },
    async terminateWallet() {
      expect(await client.wallets.terminateWallet(walletId)).toMatchObject({ id: walletId, walletStatus: 'closed' });
    },
  };
  const alerts: AreaCalls = {
    async queryAlertLog() {
      const body = { customer_id: made.customerId, currency: 'gbp', initial_credits_to_load: '5' };
      const { body: wallet } = await api<{ id: string }>('POST', '/wallets', body);
      const levels = { alert_enabled: true, critical: { threshold: '1' }, warning: { threshold: '4' } };
      await api('PUT', `/wallets/${wallet.id}`, { alert_settings: levels });
      const debit = { credits: '2', transaction_reason: 'MANUAL_BALANCE_DEBIT', idempotency_key: 'conformance-alert' };
      await api('POST', `/wallets/${wallet.id}/debit`, debit);
      const page = await client.alerts.queryAlertLog({
        entityId: wallet.id,
        alertType: 'low_credit_balance',
        expand: 'wallet',
      });
      expect(page).toMatchObject({
        items: [
          {
            alertStatus: 'warning',
            alertInfo: { valueAtTime: 3, alertSettings: { warning: { threshold: 4 } } },
            wallet: { id: wallet.id },
          },
        ],
      });
      await api('POST', `/wallets/${wallet.id}/terminate`);
    },
  };
  return { wallets, alerts };
}
