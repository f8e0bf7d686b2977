import type { MandateCeiling } from '../../../billing/saved-method.ts';
import type { SettingValue } from '../platform/setting-defaults.ts';

/** The setting `payment_mandate_limits` as a list of ceilings. spec: wallets-and-payments §1.9 */
export function mandateCeilings(setting: SettingValue<'payment_mandate_limits'>): MandateCeiling[] {
  return Object.entries(setting.mandate_limits).map(([method, limit]) => ({
    method,
    currency: limit.currency.toLowerCase(),
    maxLimit: limit.max_amount,
  }));
}
