import { refuse } from '../refusal.ts';
import { type ExpiryUnit, expiryAfter } from '../wallet/credit-expiry.ts';

/** Opens a wallet of the new customer. spec: platform §12 Actions */
export interface CreateWalletAction {
  action: 'create_wallet';
  currency: string;
  conversion_rate?: string | undefined;
  wallet_type?: 'PRE_PAID' | 'POST_PAID' | undefined;
  initial_credits_to_load?: string | undefined;
  initial_credits_expiration_duration?: number | undefined;
  initial_credits_expiration_duration_unit?: ExpiryUnit | undefined;
}

/** Subscribes the new customer. Currency and billing period may be left out where the plan's prices leave no choice. */
export interface CreateSubscriptionAction {
  action: 'create_subscription';
  plan_id: string;
  billing_cycle?: 'anniversary' | 'calendar' | undefined;
  start_date?: string | undefined;
  currency?: string | undefined;
  billing_period?: string | undefined;
}

export type OnboardingAction = CreateWalletAction | CreateSubscriptionAction;

/** The setting `customer_onboarding` as far as it says what is done. */
export interface OnboardingConfig {
  actions: readonly OnboardingAction[];
  custom_workflows: Readonly<Record<string, { actions: readonly OnboardingAction[] }>>;
}

/**
 * What is done for a new customer, in order: the actions of the workflow its maker names, else those of the environment. Throws
 * `validation_error` for a name nobody configured. spec: platform §10.1, §10.2 Onboarding
 */
export function onboardingActions(
  config: OnboardingConfig,
  choice: { skip: boolean; workflowName: string | null },
): readonly OnboardingAction[] {
  const { skip, workflowName: name } = choice;
  if (!name) return skip ? [] : config.actions;
  const workflow = Object.hasOwn(config.custom_workflows, name) ? config.custom_workflows[name] : undefined;
  if (!workflow) {
    const known = Object.keys(config.custom_workflows).join(', ') || 'none';
    const problem = `${name} is no workflow of the setting customer_onboarding; there are: ${known}`;
    throw refuse('validation_error', `onboarding_workflow_name ${problem}`, {
      fields: { onboarding_workflow_name: problem },
    });
  }
  return skip ? [] : workflow.actions;
}

/** When the first credits of an onboarding wallet expire; null for never. */
export function firstCreditsExpiry(action: CreateWalletAction, now: string): string | null {
  const { initial_credits_expiration_duration: count, initial_credits_expiration_duration_unit: unit } = action;
  return count && unit ? expiryAfter(now, count, unit) : null;
}

/** The currency and billing period of a plan's prices where the action names none. Throws `invalid_operation` for several. */
export function subscriptionTerms(
  action: CreateSubscriptionAction,
  prices: readonly { currency: string; billingPeriod: string | null }[],
): { currency: string; billingPeriod: string } {
  const only = (member: 'currency' | 'billing_period', values: readonly (string | null)[]) => {
    const given = action[member];
    if (given) return given;
    const [value, ...others] = [...new Set(values.filter((one) => one !== null))];
    if (value && others.length === 0) return value;
    throw refuse(
      'invalid_operation',
      `the prices of plan ${action.plan_id} have ${others.length === 0 ? 'no' : 'several'} ${member}; name one in the action`,
    );
  };
  const currency = only(
    'currency',
    prices.map((price) => price.currency),
  );
  const ofCurrency = prices.filter((price) => price.currency === currency);
  return {
    currency,
    billingPeriod: only(
      'billing_period',
      ofCurrency.map((price) => price.billingPeriod),
    ),
  };
}
