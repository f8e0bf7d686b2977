import type { ChargePeriod, ChargeReason } from '../../billing/line/charge.ts';
import type { PeriodTerms } from '../../billing/line/period-allowance.ts';
import type { ResumeTerms } from '../../billing/line/resume-charge.ts';
import type { ChargedItem } from './charged-item.ts';
import type { SubscriptionRow } from './subscription-row.ts';

/** Charges to compute for an invoice: the subscription, the periods, the reason. */
export interface ChargeRequest {
  /** Any key that names the request among the others of one call. */
  key: string;
  subscription: SubscriptionRow;
  reason: ChargeReason;
  elapsed: ChargePeriod | null;
  next: ChargePeriod | null;
  usageUntil?: string;
  /** The invoice being recomputed: its own lines do not count as billed already. */
  ownInvoiceId?: string;
  /** Charges only these line items; absent: all of the subscription. */
  lineItemIds?: ReadonlySet<string>;
  /** True for a preview, which does not look at existing invoices. */
  withoutBilled?: boolean;
  /** True for the closing of a pause, with which the commitment of the period is settled. */
  pauses?: boolean;
  /** With reason `resume`: what the pause gave back. */
  resume?: ResumeTerms;
  /** Charges in place of the subscription's own line items and allowances: another plan's, for a simulation. */
  terms?: PeriodTerms & { items: readonly ChargedItem[] };
}
