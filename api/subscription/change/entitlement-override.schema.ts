import { z } from 'zod';
import type { NewOverride } from '../../../billing/subscription/new-subscription.ts';

/** What a new subscription sets otherwise than its plan. spec: subscriptions-and-invoicing §1.2 override_entitlements */
export const overridesInput = z
  .array(
    z.object({
      entitlement_id: z.string().min(1).max(255),
      usage_limit: z.int('must be an integer of at least 0').min(0, 'must be an integer of at least 0').nullish(),
      is_enabled: z.boolean().nullish(),
      static_value: z.string().min(1).max(10_000).nullish(),
      config_value: z.record(z.string().min(1), z.unknown()).nullish(),
    }),
  )
  .max(100);

export function newOverrides(input: z.output<typeof overridesInput>): NewOverride[] {
  return input.map((override) => ({
    entitlementId: override.entitlement_id,
    ...(override.usage_limit === undefined ? {} : { usageLimit: override.usage_limit }),
    ...(override.is_enabled == null ? {} : { isEnabled: override.is_enabled }),
    ...(override.static_value == null ? {} : { staticValue: override.static_value }),
    ...(override.config_value == null ? {} : { configValue: override.config_value }),
  }));
}
