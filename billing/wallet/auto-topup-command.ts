/** Resumption of the automatic top-ups of a wallet. spec: wallets-and-payments §2.11 */
export interface TopUpResumption {
  /** Ends the attempt under way, whose gateway is silent, instead of a pause. */
  givesUp: boolean;
}
