import type { Allowance } from '../../../billing/allowance/allowance.ts';
import { meterGrants } from '../../../billing/allowance/grant.ts';
import {
  earliestWindow,
  type SummarizedSubscription,
  usagePercent,
  usageWindow,
} from '../../../billing/allowance/usage-summary.ts';
import type { UsageAnswer } from '../../../billing/line/charge.ts';
import { type BillingPeriod, earlier, later } from '../../../billing/time/calendar.ts';
import { customerNow } from '../../../db/clock.ts';
import type { Subscription } from '../../../db/entities/subscription/subscription.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { inheritedUsage, withInherited } from '../../charging/subscription-family.ts';
import type { InheritedUsage, UsageReader, UsageReadQuestion } from '../../usage-reader.ts';
import {
  type AggregatedFeature,
  aggregatedFeatures,
  type FeatureFilters,
  grantingSubscriptions,
} from './customer-entitlement.ts';
import { type GrantedFeature, grantedFeature } from './granted-usage.ts';

export interface UsageSummaryFilters extends FeatureFilters {
  subscriptionIds?: readonly string[] | undefined;
}

/** A feature with how much of it was used. Decimal strings. */
export interface FeatureUsage extends AggregatedFeature {
  currentUsage: string;
  usagePercent: string;
  /** Null where nothing limits it, or where what limits it is no whole number of units. */
  totalLimit: string | null;
  isUnlimited: boolean;
  nextResetAt: string | null;
}

export interface UsageSummary {
  customerId: string;
  features: FeatureUsage[];
  /** From the earliest start to the latest end of the subscriptions' current periods, named as the oldest one's. */
  period: { start: string; end: string; billingPeriod: string } | null;
}

interface AskedFeature {
  granted: AggregatedFeature;
  nextResetAt: string | null;
  question: UsageReadQuestion | null;
  /** Where budgets take the place of the limit. */
  budgets: GrantedFeature | null;
}

/**
 * What a customer may use and has used at its present, over its active and trialing subscriptions; the usage of all features is
 * one question to the engine, with that of customers who inherit them. Usage counts from the window's start to the present, as an invoice preview counts it, and a
 * running meter's from the start of the subscription. spec: catalogue-and-metering §7.7; platform §10.3
 */
export async function customerUsageSummary(
  tx: Transaction,
  customerId: string,
  filters: UsageSummaryFilters,
  readUsage: UsageReader,
): Promise<UsageSummary> {
  const at = await customerNow(tx, customerId);
  const subscriptions = await grantingSubscriptions(tx, customerId, at, filters.subscriptionIds);
  const granted = await aggregatedFeatures(tx, subscriptions, filters, at);
  const inherited = await inheritedUsage(tx, tx.scope.environmentId, subscriptions);
  const others = subscriptions.flatMap(({ id }) => inherited.get(id) ?? []);
  const asked = granted.map((feature) => askedFeature(feature, subscriptions, { customerId, others }, at));
  const questions = asked.flatMap(({ question }) => question ?? []);
  const answers = questions.length > 0 ? await readUsage(tx, tx.scope, questions) : new Map();
  const features = asked.map((one) => summaryOf(one, answers.get(one.granted.feature.id)));
  return { customerId, features, period: periodOf(subscriptions) };
}

function summaryOf({ granted, nextResetAt, budgets }: AskedFeature, answer: UsageAnswer | undefined): FeatureUsage {
  if (budgets) return { ...granted, ...budgets.summarize(answer), isUnlimited: false };
  const currentUsage = answer?.quantity ?? '0';
  const isMetered = granted.feature.type === 'metered';
  const totalLimit = isMetered ? granted.entitlement.usageLimit : null;
  const percent = isMetered ? usagePercent(currentUsage, totalLimit) : '0';
  // Budgets of money replace the limit too, and are told by what an invoice would bill.
  const isUnlimited = isMetered && totalLimit === null && meterGrants(granted.sources) === null;
  return { ...granted, currentUsage, usagePercent: percent, totalLimit, isUnlimited, nextResetAt };
}

function askedFeature(
  granted: AggregatedFeature,
  subscriptions: readonly Subscription[],
  { customerId, others }: { customerId: string; others: readonly InheritedUsage[] },
  at: string,
): AskedFeature {
  const { feature, meter, sources, entitlement } = granted;
  if (feature.type !== 'metered') return { granted, nextResetAt: null, question: null, budgets: null };
  const budgets = grantedFeature(granted, subscriptions, { customerId, others }, at);
  if (budgets) return { granted, nextResetAt: null, question: budgets.question, budgets };
  const granting = subscriptions
    .filter(({ id }) => sources.some((source) => source.subscriptionId === id))
    .map(summarized);
  const reset = entitlement.usageResetPeriod as Allowance['usageResetPeriod'];
  const window = earliestWindow(granting.map((subscription) => usageWindow(subscription, reset, at)));
  const from =
    meter?.resetUsage === 'NEVER' ? granting.map(({ startDate }) => startDate).reduce(earlier) : window?.start;
  const nextResetAt = window?.nextResetAt ?? null;
  if (!meter || from === undefined || from >= at) return { granted, nextResetAt, question: null, budgets: null };
  const question = {
    key: feature.id,
    meterId: meter.id,
    customerId,
    ...withInherited(others, { from, to: at }),
    from,
    to: at,
    filters: null,
    bucketSize: null,
    timezone: granting[0]?.timezone ?? 'UTC',
    billingAnchor: granting[0]?.billingAnchor ?? null,
  };
  return { granted, nextResetAt, question, budgets: null };
}

function summarized(row: Subscription): SummarizedSubscription {
  const ends = [row.endDate, row.cancelAt].filter((instant) => instant != null);
  return {
    billingPeriod: row.billingPeriod as BillingPeriod,
    billingPeriodCount: row.billingPeriodCount,
    billingAnchor: row.billingAnchor,
    timezone: row.timezone,
    startDate: row.startDate,
    endDate: ends.length > 0 ? ends.reduce(earlier) : null,
    currentPeriod: { start: row.currentPeriodStart, end: row.currentPeriodEnd },
  };
}

function periodOf(subscriptions: readonly Subscription[]): UsageSummary['period'] {
  const [oldest] = subscriptions;
  if (!oldest) return null;
  return {
    start: subscriptions.map((row) => row.currentPeriodStart).reduce(earlier),
    end: subscriptions.map((row) => row.currentPeriodEnd).reduce(later),
    billingPeriod: oldest.billingPeriod,
  };
}
