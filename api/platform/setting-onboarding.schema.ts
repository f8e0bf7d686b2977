import { z } from 'zod';
import { refuse } from '../../billing/refusal.ts';
import { expiryUnits } from '../../billing/wallet/credit-expiry.ts';
import { walletTypes } from '../../billing/wallet/wallet.ts';
import { canonicalDecimal } from '../decimal.ts';
import { currencyInput, timestampInput } from '../scalars.schema.ts';

const decimal = z
  .string()
  .refine(
    (text) => canonicalDecimal(text) !== null && !text.startsWith('-'),
    'must be a decimal of 0 or more, as a string',
  );

const createWallet = z
  .strictObject({
    action: z.literal('create_wallet'),
    currency: currencyInput(),
    conversion_rate: decimal.optional(),
    wallet_type: z.enum(walletTypes).optional(),
    initial_credits_to_load: decimal.optional(),
    initial_credits_expiration_duration: z.int().min(1).max(10_000).optional(),
    initial_credits_expiration_duration_unit: z.enum(expiryUnits).optional(),
  })
  .refine((one) => !one.initial_credits_expiration_duration === !one.initial_credits_expiration_duration_unit, {
    path: ['initial_credits_expiration_duration'],
    message: 'goes together with initial_credits_expiration_duration_unit',
  });

const createSubscription = z.strictObject({
  action: z.literal('create_subscription'),
  plan_id: z.string().min(1).max(255),
  billing_cycle: z.enum(['anniversary', 'calendar']).optional(),
  start_date: timestampInput().optional(),
  currency: currencyInput().optional(),
  billing_period: z.enum(['DAILY', 'WEEKLY', 'MONTHLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL']).optional(),
});

const action = z.discriminatedUnion('action', [createWallet, createSubscription], {
  error: 'must be create_wallet or create_subscription',
});
const actions = z.array(action).max(20);

/** Refuses to make customers of events that name unknown ones: nothing does that yet. */
export function refuseUnbuiltActions(merged: Record<string, unknown>): void {
  const lists = [merged.actions, ...Object.values(merged.custom_workflows ?? {}).map((workflow) => workflow?.actions)];
  const asked = lists.some((list) => Array.isArray(list) && list.some((one) => one?.action === 'create_customer'));
  if (!asked) return;
  const problem = 'create_customer is not available yet; leave it out, and create customers before their events';
  throw refuse('not_implemented', `value.actions: ${problem}`, { fields: { 'value.actions': problem } });
}

/** What is done for new customers; an action that is unknown or lacks a member is named by its index. spec: platform §12 Actions */
export const onboardingSetting = z.strictObject({
  workflow_type: z.literal('customer_onboarding'),
  actions,
  custom_workflows: z.record(z.string().min(1).max(255), z.strictObject({ actions: actions.min(1) })),
});
