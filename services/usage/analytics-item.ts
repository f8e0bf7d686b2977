import type { LineAnalytics } from '../../billing/line/analytics-commitment.ts';
import type { AnalyticsAmounts } from '../../billing/line/usage-analytics.ts';
import type { Addon } from '../../db/entities/catalogue/addon.ts';
import type { Group } from '../../db/entities/catalogue/group.ts';
import type { Plan } from '../../db/entities/catalogue/plan.ts';
import type { PriceUnit } from '../../db/entities/catalogue/price-unit.ts';
import type { UsagePart } from '../usage-part-reader.ts';
import type { AnalyticsLine } from './analytics-line.ts';

/** A line's usage, or one group of it, with what it costs. */
export interface AnalyticsItem extends AnalyticsAmounts {
  line: AnalyticsLine;
  currency: string;
  part: UsagePart;
  /** Costs of the points of the part, in their order. */
  pointAmounts: AnalyticsAmounts[];
  /** Result of the line's commitment for its usage; null without one, and where something takes usage apart. */
  committed: LineAnalytics | null;
  group: Group | null;
  plan: Plan | null;
  addon: Addon | null;
  /** The custom currency of the line's price. */
  unit: PriceUnit | null;
}
