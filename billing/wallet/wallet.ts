import { type Decimal, decimal, decimalString } from '../money/money.ts';
import { refuse } from '../refusal.ts';
import { compareText } from '../text-order.ts';

export const walletTypes = ['PRE_PAID', 'POST_PAID'] as const;
export type WalletType = (typeof walletTypes)[number];
export const priceTypes = ['ALL', 'USAGE', 'FIXED'] as const;
export type AllowedPriceType = (typeof priceTypes)[number];

/** Decimals of credits and balances. spec: wallets-and-payments §0 Precision */
export const creditScale = 9;

/** Half away from zero at nine decimals. spec: wallets-and-payments §2.2 */
export function roundCredits(value: Decimal): Decimal {
  return value.toDecimalPlaces(creditScale);
}

/** Credits an amount buys at a rate; the exact quotient, rounded once. spec: wallets-and-payments §2.2 */
export function creditsOf(amount: Decimal | string, rate: Decimal | string): Decimal {
  return roundCredits(decimal(amount).dividedBy(decimal(rate)));
}

/** What credits are worth, or cost, at a rate. spec: wallets-and-payments §2.2 */
export function creditValue(credits: Decimal | string, rate: Decimal | string): Decimal {
  return roundCredits(decimal(credits).times(decimal(rate)));
}

/** The name of a wallet whose maker gave none. spec: wallets-and-payments §1.1 */
export function defaultWalletName(walletType: WalletType, currency: string): string {
  return `${walletType === 'PRE_PAID' ? 'Prepaid' : 'Postpaid'} Wallet - ${currency.toUpperCase()}`;
}

/** What a wallet may pay until somebody says otherwise. spec: wallets-and-payments §1.1 */
export function defaultPriceTypes(walletType: WalletType): AllowedPriceType[] {
  return walletType === 'PRE_PAID' ? ['USAGE'] : ['ALL'];
}

/** The rates of a wallet: nothing and 0 are 1, and the conversion rate for top-ups. spec: wallets-and-payments §1.1 POST body */
export function walletRates(input: {
  conversionRate?: string | null | undefined;
  topupConversionRate?: string | null | undefined;
}): { conversionRate: string; topupConversionRate: string } {
  const given = input.conversionRate ?? '0';
  const conversionRate = decimal(given).isZero() ? '1' : decimalString(given);
  return { conversionRate, topupConversionRate: decimalString(input.topupConversionRate ?? conversionRate) };
}

/** What decides whether and when a wallet's prepaid credits pay an invoice. */
export interface PayingWallet {
  id: string;
  customerId: string;
  currency: string;
  walletStatus: string;
  walletType: string;
  creditBalance: Decimal;
  conversionRate: string;
  createdAt: string;
}

/** The wallets whose prepaid credits pay an invoice: the largest balance first, then age, then id. spec: wallets-and-payments §2.12 step 1 */
export function inOrderOfPaying<Wallet extends PayingWallet>(
  wallets: readonly Wallet[],
  invoice: { customerId: string; currency: string },
): Wallet[] {
  const balance = (wallet: Wallet) => creditValue(wallet.creditBalance, wallet.conversionRate);
  return wallets
    .filter(({ customerId, currency }) => customerId === invoice.customerId && currency === invoice.currency)
    .filter(({ walletStatus, walletType }) => walletStatus === 'active' && walletType === 'PRE_PAID')
    .filter((wallet) => balance(wallet).greaterThan(0))
    .sort(
      (a, b) => balance(b).comparedTo(balance(a)) || compareText(a.createdAt, b.createdAt) || compareText(a.id, b.id),
    );
}

export type WalletOperation = 'top_up' | 'debit' | 'terminate' | 'modify' | 'update' | 'settle_paid_purchase';

const whileFrozen: readonly WalletOperation[] = ['update', 'terminate', 'settle_paid_purchase'];

/** Refuses what a wallet's status does not admit, and a modification of what is not prepaid. spec: wallets-and-payments §2.1, §2.9 */
export function guardWallet(
  wallet: { id: string; walletStatus: string; walletType: string },
  operation: WalletOperation,
): void {
  const { id, walletStatus, walletType } = wallet;
  const details = { wallet_status: walletStatus };
  if (walletStatus === 'closed') {
    throw refuse('invalid_operation', `wallet ${id} is closed and can only be read`, details);
  }
  if (walletStatus === 'frozen' && !whileFrozen.includes(operation)) {
    throw refuse('invalid_operation', `wallet ${id} is frozen; set wallet_status to active first`, details);
  }
  if (operation === 'modify' && walletType !== 'PRE_PAID') {
    throw refuse('invalid_operation', `wallet ${id} is ${walletType}; only a PRE_PAID wallet can become postpaid`, {
      wallet_type: walletType,
    });
  }
}
