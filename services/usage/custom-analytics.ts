import { revenuePerMinute } from '../../billing/line/usage-analytics.ts';
import type { Interval } from '../../billing/time/calendar.ts';
import type { Transaction } from '../../db/transaction.ts';
import { readSetting } from '../platform/setting.ts';
import type { AnalyticsItem } from './analytics-item.ts';

/** A figure that the setting `custom_analytics_config` adds. */
export interface CustomAnalytic {
  id: string;
  name: string;
  /** What the rule is about: feature, meter or event_name. */
  type: string;
  /** The feature's name, the meter's, or the event name itself. */
  targetName: string;
  value: string;
}

interface Rule {
  id: string;
  target_type: 'feature' | 'meter' | 'event_name';
  target_id: string;
}

/**
 * The figures of the environment's rules, in their order: `revenue-per-minute` is the cost of the target's items divided by
 * the minutes of the interval. Items of another currency take no part; a rule whose target has no item is left out. The texts
 * leave the inner shape of a rule open. spec: platform §12 custom_analytics_config; catalogue-and-metering §17
 */
export async function customAnalytics(
  tx: Transaction,
  items: readonly AnalyticsItem[],
  currency: string | null,
  interval: Interval,
): Promise<CustomAnalytic[]> {
  const { rules } = await readSetting(tx, 'custom_analytics_config');
  return (rules as Rule[]).flatMap((rule) => {
    const own = items.filter((item) => item.currency === currency && isTarget(item, rule));
    const [first] = own;
    if (!first) return [];
    const value = revenuePerMinute(
      own.map(({ cost }) => cost),
      { from: interval.start, to: interval.end },
    );
    return [
      { id: rule.id, name: 'Revenue per minute', type: rule.target_type, targetName: targetName(first, rule), value },
    ];
  });
}

function isTarget({ line }: AnalyticsItem, { target_type, target_id }: Rule): boolean {
  switch (target_type) {
    case 'feature':
      return line.feature?.id === target_id;
    case 'meter':
      return line.meter.id === target_id;
    case 'event_name':
      return line.meter.eventName === target_id;
  }
}

function targetName({ line }: AnalyticsItem, { target_type }: Rule): string {
  if (target_type === 'event_name') return line.meter.eventName;
  return target_type === 'feature' ? (line.feature?.name ?? '') : line.meter.name;
}
