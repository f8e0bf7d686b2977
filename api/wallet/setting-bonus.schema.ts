import { z } from 'zod';
import { decimal } from '../../billing/money/money.ts';
import { expiryUnits } from '../../billing/wallet/credit-expiry.ts';
import { canonicalDecimal } from '../decimal.ts';

const positive = z.string().refine((text) => /[1-9]/.test(canonicalDecimal(text) ?? '-') && !text.startsWith('-'), {
  message: 'must be a decimal above 0, as a string',
});

const slab = z
  .strictObject({
    threshold: positive,
    operator: z.literal('gte'),
    bonus: z.strictObject({ type: z.enum(['flat', 'percentage']), value: positive }),
    expiration_duration: z.int().min(1).max(10_000).nullish(),
    expiration_duration_unit: z.enum(expiryUnits).nullish(),
  })
  .refine((one) => !one.expiration_duration === !one.expiration_duration_unit, {
    path: ['expiration_duration'],
    message: 'goes together with expiration_duration_unit',
  })
  .refine(({ bonus }) => bonus.type === 'flat' || !decimal(bonus.value).greaterThan(100), {
    path: ['bonus', 'value'],
    message: 'must be at most 100 percent',
  });

/** What purchases earn: thresholds fall strictly, and while it is enabled there is at least one. spec: wallets-and-payments §2.7, platform §12 */
export const bonusSetting = z
  .strictObject({ enabled: z.boolean(), slabs: z.array(slab).max(100) })
  .refine(({ enabled, slabs }) => !enabled || slabs.length > 0, {
    path: ['slabs'],
    message: 'must not be empty while enabled',
  })
  .refine(
    ({ slabs }) => slabs.every((one, index) => index === 0 || compare(slabs[index - 1]!.threshold, one.threshold) > 0),
    {
      path: ['slabs'],
      message: 'must have strictly descending thresholds',
    },
  );

function compare(a: string, b: string): number {
  return decimal(a).comparedTo(decimal(b));
}
