/** The aggregated metered entitlement of a meter's feature. spec: catalogue-and-metering §8.3, §8.4 */
export interface Allowance {
  /** null is unlimited. */
  usageLimit: string | null;
  /** DAILY … ANNUAL, NEVER; null is the billing period. */
  usageResetPeriod: string | null;
}
