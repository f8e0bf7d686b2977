import { grantFolding, type MeasuredGrant } from '../../../billing/allowance/grant-usage.ts';
import { usagePercent } from '../../../billing/allowance/usage-summary.ts';
import type { UsageAnswer } from '../../../billing/line/charge.ts';
import { grantTenures } from '../../../billing/line/grant-tenure.ts';
import { grantsOver, heldParts } from '../../../billing/line/period-allowance.ts';
import { decimal, zero } from '../../../billing/money/money.ts';
import type { Subscription } from '../../../db/entities/subscription/subscription.ts';
import { withInherited } from '../../charging/subscription-family.ts';
import type { InheritedUsage, UsageReadQuestion } from '../../usage-reader.ts';
import type { AggregatedFeature } from './customer-entitlement.ts';

const countedTypes = ['COUNT', 'SUM', 'SUM_WITH_MULTIPLIER'];

/** How much of the budget that holds now is used. Decimal strings. */
export interface GrantedUsage {
  currentUsage: string;
  usagePercent: string;
  totalLimit: string | null;
  nextResetAt: string | null;
}

/** A feature whose budgets of units are shown in place of its limit, and what must be read for that. */
export interface GrantedFeature {
  question: UsageReadQuestion;
  summarize: (answer: UsageAnswer | undefined) => GrantedUsage;
}

/**
 * The budgets of a feature as a usage summary shows them: of those that hold now the fullest, with its quota as the limit and its
 * end as the reset; before usage opens one, nothing is used of the smallest quota. Null for a feature without budgets of
 * units; of several subscriptions the oldest with budgets is shown. spec: catalogue-and-metering §7.7, §9.2
 */
export function grantedFeature(
  { feature, meter, parts }: AggregatedFeature,
  subscriptions: readonly Subscription[],
  { customerId, others }: { customerId: string; others: readonly InheritedUsage[] },
  at: string,
): GrantedFeature | null {
  if (!meter || meter.aggregation.bucket_size || !countedTypes.includes(meter.aggregation.type)) return null;
  for (const subscription of subscriptions) {
    const own = parts.filter((part) => part.subscriptionId === subscription.id);
    const given = grantsOver(heldParts(own, at));
    if (!given) continue;
    if (given.measure !== 'quantity') return null;
    const { timezone, billingAnchor } = subscription;
    const period = { start: subscription.currentPeriodStart, end: subscription.currentPeriodEnd };
    // Of several plans in the period, the budgets of the one that is held.
    const held = grantTenures(given, period).find(({ cycle }) => cycle.start <= at && at < cycle.end);
    const grants = held?.grants ?? given;
    const { start, end } = held?.cycle ?? period;
    const counted = { customerId, ...withInherited(others, { from: start, to: at }) };
    const read = { meterId: meter.id, ...counted, from: start, to: at, filters: null, bucketSize: null };
    const cycle = { start, end };
    const eachEvent = grantFolding({ tenures: [{ grants, cycle }], billed: cycle, timezone, costOf: () => zero });
    const question = { ...read, key: feature.id, timezone, billingAnchor, eachEvent };
    const summarize = (answer: UsageAnswer | undefined): GrantedUsage => {
      const { cycles } = (answer?.granted ?? eachEvent(null)).measured();
      const windows = cycles.flatMap((measured) => measured.windows);
      const open = windows.filter((window) => window.start <= at && at < window.end).sort(fullestFirst)[0];
      const quotas = grants.configurations.map(({ quota }) => quota).sort((a, b) => decimal(a).comparedTo(decimal(b)));
      const quota = open?.quota ?? quotas[0]!;
      const currentUsage = open?.usage ?? '0';
      return {
        currentUsage,
        usagePercent: usagePercent(currentUsage, quota),
        totalLimit: decimal(quota).isInteger() ? quota : null,
        nextResetAt: open?.end ?? null,
      };
    };
    return { question, summarize };
  }
  return null;
}

function fullestFirst(a: MeasuredGrant, b: MeasuredGrant): number {
  return decimal(b.usage).times(a.quota).comparedTo(decimal(a.usage).times(b.quota));
}
