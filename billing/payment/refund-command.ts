/** Another try of a refund that failed. spec: wallets-and-payments §2.21 */
export interface RefundRetry {
  target: 'PREPAID_WALLET' | 'BACK_TO_SOURCE';
}
