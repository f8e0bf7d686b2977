import { z } from 'zod';
import { decimal } from '../../billing/money/money.ts';
import { canonicalDecimal } from '../decimal.ts';

const limit = z.string().refine((text) => {
  const canonical = canonicalDecimal(text);
  return canonical !== null && decimal(canonical).greaterThan(0);
}, 'must be a decimal above 0');

/** Most that a mandate of a kind of method may be for, in a currency; each pair once. spec: wallets-and-payments §1.9, decision 38 */
export const mandateLimits = z
  .array(z.strictObject({ payment_method: z.enum(['UPI']), currency: z.string().length(3), max_limit: limit }))
  .max(100)
  .refine(
    (limits) =>
      new Set(limits.map((one) => `${one.payment_method} ${one.currency.toLowerCase()}`)).size === limits.length,
    'must name each method and currency once',
  );

/**
 * `mandate_limits` written as an object by method, `{"UPI": {"max_amount", "currency"}}`, as the list that is answered. Anything else is
 * left as it is, for the check of the setting to refuse.
 */
export function listedMandates(value: Record<string, unknown>): Record<string, unknown> {
  const limits = value.mandate_limits;
  if (typeof limits !== 'object' || limits === null || Array.isArray(limits)) return value;
  const listed = Object.entries(limits).map(([payment_method, one]: [string, unknown]) => {
    if (typeof one !== 'object' || one === null) return { payment_method };
    const { max_amount, currency, ...rest } = one as Record<string, unknown>;
    return {
      payment_method,
      currency: typeof currency === 'string' ? currency.toLowerCase() : currency,
      max_limit: max_amount,
      ...rest,
    };
  });
  return { ...value, mandate_limits: listed };
}
