import type { BalanceEvent, WalletEvent } from '../platform/event-catalogue/wallet-events.ts';

/** Wallet as its events show it. */
export interface WalletFacts {
  id: string;
  customerId: string;
  currency: string;
  balance: string;
  creditBalance: string;
  walletStatus: string;
  name: string;
  walletType: string;
  conversionRate: string;
}

/** An event of a wallet in the shape of its delivery. spec: wallets-and-payments §2.24 */
export function walletEvent(name: WalletEvent['name'], wallet: WalletFacts, occurredAt: string): WalletEvent {
  return { name, entityType: 'wallet', entityId: wallet.id, occurredAt, payload: { wallet: toldWallet(wallet) } };
}

/** A wallet as outbound events carry it. spec: platform §17.2 */
export function toldWallet(wallet: WalletFacts): BalanceEvent['payload']['wallet'] {
  return {
    id: wallet.id,
    customer_id: wallet.customerId,
    currency: wallet.currency,
    balance: wallet.balance,
    credit_balance: wallet.creditBalance,
    wallet_status: wallet.walletStatus,
    name: wallet.name,
    wallet_type: wallet.walletType,
    conversion_rate: wallet.conversionRate,
  };
}
