import type { MandateCeiling } from '../../billing/payment/saved-method.ts';
import type { SettingValue } from '../platform/setting-defaults.ts';

/** The setting `payment_mandate_limits` as a list of ceilings. spec: wallets-and-payments §1.9 */
export function mandateCeilings(setting: SettingValue<'payment_mandate_limits'>): MandateCeiling[] {
  return setting.mandate_limits.map(({ payment_method: method, currency, max_limit: maxLimit }) => ({
    method,
    currency: currency.toLowerCase(),
    maxLimit,
  }));
}
