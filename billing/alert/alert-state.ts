import { type Decimal, decimal, hundred, sum } from '../money/money.ts';
import { roundCredits } from '../wallet/wallet.ts';
import { type AlertConfig, alertLevels } from './alert-config.ts';

/** From harmless to severe. */
export const alertStates = ['ok', 'info', 'warning', 'in_alarm'] as const;
export type AlertState = (typeof alertStates)[number];

export const alertTypes = [
  'low_ongoing_balance',
  'low_credit_balance',
  'feature_wallet_balance',
  'subscription_spend',
  'subscription_line_item_spend',
  'subscription_group_spend',
  'entitlement_grant_threshold',
  'entitlement_grant_exhausted',
] as const;
export type AlertType = (typeof alertTypes)[number];

const stateOfLevel = { critical: 'in_alarm', warning: 'warning', info: 'info' } as const;

/**
 * State of a watched value: the most severe level it has reached, thresholds included. spec: wallets-and-payments §2.16
 */
export function alertStateOf(config: Pick<AlertConfig, 'critical' | 'warning' | 'info'>, value: Decimal): AlertState {
  for (const name of alertLevels) {
    const level = config[name];
    if (!level) continue;
    const order = value.comparedTo(level.threshold);
    if (level.condition === 'above' ? order >= 0 : order <= 0) return stateOfLevel[name];
  }
  return 'ok';
}

/** A step to a state that is less severe; it is taken only when it has lasted, so that a balance around a threshold does not flap. */
export function isCalmer(state: AlertState, than: AlertState): boolean {
  return alertStates.indexOf(state) < alertStates.indexOf(than);
}

/** Outbound events of a stream, to states that are not ok and back; null where nothing is told. */
const eventsOf = {
  low_ongoing_balance: ['wallet.ongoing_balance.dropped', 'wallet.ongoing_balance.recovered'],
  low_credit_balance: ['wallet.credit_balance.dropped', 'wallet.credit_balance.recovered'],
  feature_wallet_balance: ['feature.wallet_balance.alert', 'feature.wallet_balance.alert'],
  subscription_spend: ['subscription.spend.threshold_reached', 'subscription.spend.threshold_recovered'],
  subscription_line_item_spend: [
    'subscription.line_item_spend.threshold_reached',
    'subscription.line_item_spend.threshold_recovered',
  ],
  subscription_group_spend: [
    'subscription.group_spend.threshold_reached',
    'subscription.group_spend.threshold_recovered',
  ],
  entitlement_grant_threshold: [null, null],
  entitlement_grant_exhausted: ['entitlement.grant.exhausted', null],
} as const satisfies Record<AlertType, readonly [toAlarm: string | null, toOk: string | null]>;

/** Event that tells a stream's step to a state; null where nothing is told. */
export function alertEvent<Type extends AlertType>(type: Type, state: AlertState): (typeof eventsOf)[Type][number] {
  const [toAlarm, toOk] = eventsOf[type];
  return state === 'ok' ? toOk : toAlarm;
}

/** Change of a stream: whether it is logged, and the event that tells it. */
export interface AlertStep {
  isLogged: boolean;
  event: string | null;
}

/**
 * Step of a stream from its last logged state, null before the first, to the state its value has now. The first is logged only
 * when it is not ok. spec: wallets-and-payments §2.16
 */
export function alertStep(type: AlertType, last: AlertState | null, state: AlertState): AlertStep {
  if ((last ?? 'ok') === state) return { isLogged: false, event: null };
  return { isLogged: true, event: alertEvent(type, state) };
}

/** A credit of a wallet, as a percentage counts it. */
export interface CountedCredit {
  creditAmount: Decimal;
  transactionStatus: string;
  createdAt: string;
}

/**
 * Instant from which credits are the base of a percentage: the earliest current period start of the customer's active or trialing
 * subscriptions; null for the whole history. spec: wallets-and-payments §2.16
 */
export function percentageBaseStart(
  subscriptions: readonly { subscriptionStatus: string; currentPeriodStart: string }[],
): string | null {
  const starts = subscriptions
    .filter(({ subscriptionStatus }) => subscriptionStatus === 'active' || subscriptionStatus === 'trialing')
    .map(({ currentPeriodStart }) => currentPeriodStart);
  return starts.sort()[0] ?? null;
}

/** Completed credits from an instant on, in credits; all of them for null. spec: wallets-and-payments §2.16 */
export function percentageBase(credits: readonly CountedCredit[], start: string | null): Decimal {
  return sum(
    credits
      .filter(({ transactionStatus }) => transactionStatus === 'completed')
      .filter(({ createdAt }) => start === null || createdAt >= start)
      .map(({ creditAmount }) => creditAmount),
  );
}

/** Percentage of its base that a balance in credits is, with nine decimals; null for a base of 0. spec: wallets-and-payments §2.16 */
export function percentageOf(creditBalance: Decimal, base: Decimal): Decimal | null {
  return base.isZero() ? null : roundCredits(hundred.times(creditBalance).dividedBy(base));
}

/** Decimal of a threshold. */
export function thresholdOf(config: AlertConfig, state: AlertState): Decimal | null {
  const name = alertLevels.find((level) => stateOfLevel[level] === state);
  const level = name ? config[name] : null;
  return level ? decimal(level.threshold) : null;
}
