import {
  type LatePaymentConsequence,
  latePaymentConsequence,
  latePaymentTerms,
  type UnpaidInvoice,
} from '../../billing/invoice/late-payment.ts';
import { decimalText, instantText } from '../../db/rows/columns.ts';
import type { SubscriptionRow } from './subscription-row.ts';

/** What is read beside a subscription to know what unpaid invoices bring about; nulls where the settings ask for nothing. */
export interface LatePaymentColumns {
  unpaid: UnpaidRow[] | null;
  subscription_config: Record<string, unknown> | null;
  dunning_config: Record<string, unknown> | null;
  late_terms_since: string | null;
  late_pause: { invoiceId: string | null; settledAt: string | null; resumedAt: string | null } | null;
}

interface UnpaidRow {
  id: string;
  number: string | null;
  dueDate: string | null;
  paymentStatus: string;
  amountRemaining: string;
  finalizedAt: string | null;
  collectionMethod: 'charge_automatically' | 'send_invoice';
  collectionAttempts: number;
  lastFailedAt: string | null;
  isUnderWay: boolean;
}

const setting = (key: string, column = 'value') =>
  `(select ${column} from setting where environment_id = $1 and key = '${key}' and status = 'published')`;

/** Whether unpaid invoices have consequences in the environment `$1`: read once a statement, and nothing else is read unless they have. */
export const enforcesPayment = `(coalesce(${setting('subscription_config')} ->> 'auto_cancellation_enabled', 'false') = 'true'
  or coalesce(${setting('dunning_config')} ->> 'after_last_attempt', 'none') <> 'none')`;

const isUnpaid = `i.environment_id = s.environment_id and i.subscription_id = s.id and i.invoice_type = 'SUBSCRIPTION'
      and i.invoice_status = 'FINALIZED' and i.payment_status in ('PENDING', 'FAILED') and i.amount_remaining > 0`;

/** Columns of a statement over `subscription s` of the environment `$1`. */
export const latePaymentColumns = `
  case when s.subscription_status in ('active', 'paused') and ${enforcesPayment} then coalesce((
    select jsonb_agg(jsonb_build_object('id', i.id, 'number', i.invoice_number, 'dueDate', i.due_date, 'paymentStatus', i.payment_status,
      'amountRemaining', i.amount_remaining::text, 'finalizedAt', i.finalized_at, 'collectionMethod', i.collection_method,
      'collectionAttempts', i.collection_attempts,
      'lastFailedAt', (select max(p.failed_at) from payment p where p.environment_id = i.environment_id and p.destination_id = i.id),
      'isUnderWay', not i.attended or exists (select from payment p where p.environment_id = i.environment_id and p.destination_id = i.id
        and p.payment_status in ('PROCESSING', 'PENDING'))) order by i.billing_sequence)
    from invoice i where ${isUnpaid}), '[]') end as unpaid,
  ${setting('subscription_config')} as subscription_config, ${setting('dunning_config')} as dunning_config,
  case when s.test_clock_id is null then greatest(${setting('subscription_config', 'updated_at')}, ${setting('dunning_config', 'updated_at')}) end
    as late_terms_since,
  case when s.subscription_status in ('active', 'paused') and ${enforcesPayment} then (
    select jsonb_build_object('resumedAt', max(u.resumed_at), 'invoiceId', max(u.metadata ->> 'unpaid_invoice_id') filter (where u.id = s.active_pause_id),
      'settledAt', case when count(*) > 0 then (
        select max(coalesce(i.paid_at, i.voided_at)) from invoice i where i.environment_id = s.environment_id and i.subscription_id = s.id) end)
    from subscription_pause u where u.environment_id = s.environment_id and u.subscription_id = s.id and u.metadata ? 'unpaid_invoice_id') end as late_pause`;

/** What the unpaid invoices of a subscription bring about next; null when nothing. */
export function latePaymentOf(row: SubscriptionRow, read: LatePaymentColumns): LatePaymentConsequence | null {
  if (read.unpaid === null) return null;
  const pause = { invoiceId: null, settledAt: null, resumedAt: null, ...read.late_pause };
  return latePaymentConsequence(
    row,
    read.unpaid.map(unpaidInvoice),
    { invoiceId: pause.invoiceId, settledAt: instantOf(pause.settledAt), resumedAt: instantOf(pause.resumedAt) },
    latePaymentTerms(read.subscription_config, read.dunning_config, instantOf(read.late_terms_since)),
  );
}

function unpaidInvoice(row: UnpaidRow): UnpaidInvoice {
  return {
    ...row,
    number: row.number ?? row.id,
    amountRemaining: decimalText(row.amountRemaining),
    dueDate: instantOf(row.dueDate),
    finalizedAt: instantOf(row.finalizedAt),
    lastFailedAt: instantOf(row.lastFailedAt),
  };
}

function instantOf(text: string | null): string | null {
  return text === null ? null : instantText(text);
}
