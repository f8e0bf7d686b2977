import type { AgendaItem } from '../../billing/agenda.ts';
import { invoiceConfig } from '../../billing/invoice/invoice-config.ts';
import { refuse } from '../../billing/refusal.ts';
import type { Phase } from '../../billing/subscription/phase.ts';
import {
  type PendingPlanChange,
  subscriptionAgenda,
  type UnattendedInvoice,
} from '../../billing/subscription/subscription-agenda.ts';
import { anyOf } from '../../db/rows/bulk.ts';
import { instantText } from '../../db/rows/columns.ts';
import type { Sql } from '../../db/transaction.ts';
import { releaseLots } from '../ledger/wallet-agenda.ts';
import { replaceAgendas } from '../lifecycle/agenda.ts';
import { type LatePaymentColumns, latePaymentColumns, latePaymentOf } from './late-payment.ts';
import { phasesOfRow, phasesText } from './subscription-phase.ts';
import { lockSubscriptions, readSubscriptions, type SubscriptionRow } from './subscription-row.ts';

/** A subscription and what time will bring to it. */
export interface AttendedSubscription {
  row: SubscriptionRow;
  agenda: AgendaItem[];
  /** Why it is parked; null when it is not. */
  /** The step at which it is parked, and why; null when it is not. */
  blockedOn: string | null;
  blockedReason: string | null;
}

interface SurroundingsRow extends LatePaymentColumns {
  id: string;
  invoices: {
    id: string;
    status: 'DRAFT' | 'FINALIZED';
    edited: boolean;
    computedAt: string;
    finalizedAt: string | null;
    unsettled: boolean;
    openPaymentId: string | null;
  }[];
  opening_paid_at: string | null;
  grants: { id: string; at: string }[];
  parked: [string, string] | null;
  invoice_config: Record<string, unknown> | null;
  plan_changes: PendingPlanChange[] | null;
  phases: Phase[] | null;
  [column: string]: unknown;
}

// Invoices with a workflow of their own are `attended`. The partial index holds those only that are not settled, however long the life.
const surroundingsText = `
select s.id,
  coalesce((
    select jsonb_agg(jsonb_build_object('id', i.id, 'status', i.invoice_status, 'edited', i.is_manually_edited,
      'computedAt', i.last_computed_at, 'finalizedAt', i.finalized_at, 'unsettled', i.amount_remaining > 0,
      'openPaymentId', (select p.id from payment p where p.environment_id = i.environment_id and p.destination_id = i.id
        and p.payment_status = 'PROCESSING' and not p.attended limit 1)))
    from invoice i
    where i.environment_id = s.environment_id and i.subscription_id = s.id and not i.attended and i.source_type <> 'checkout'
      and i.invoice_status in ('DRAFT', 'FINALIZED') and (i.invoice_status = 'DRAFT' or i.amount_remaining > 0)), '[]') as invoices,
  case when s.subscription_status = 'incomplete' then (
    select max(i.paid_at) from invoice i where i.environment_id = s.environment_id and i.subscription_id = s.id
      and i.billing_reason in ('SUBSCRIPTION_CREATE', 'SUBSCRIPTION_TRIAL_END', 'SUBSCRIPTION_UPDATE')
      and i.payment_status in ('SUCCEEDED', 'OVERPAID')) end as opening_paid_at,
  coalesce((select jsonb_agg(jsonb_build_object('id', a.id, 'at', a.scheduled_for)) from credit_grant_application a
    where a.environment_id = s.environment_id and a.subscription_id = s.id and a.application_status in ('pending', 'failed')), '[]') as grants,
  (select array[o.step, o.reason] from parked_object o where o.environment_id = s.environment_id and o.object_type = 'subscription' and o.object_id = s.id) as parked,
  (select value from setting where environment_id = s.environment_id and key = 'invoice_config' and status = 'published') as invoice_config,
  (select jsonb_agg(jsonb_build_object('kind', c.kind, 'at', c.at, 'ref', c.ref)) from (
    select case when t.configuration ->> 'version' = 'v1' then 'replacePlan' else 'applyPlanChange' end as kind, t.scheduled_at as at, t.id as ref
    from subscription_schedule t where t.environment_id = s.environment_id and t.subscription_id = s.id
      and t.schedule_type = 'plan_change' and t.schedule_status = 'pending'
    union all
    select 'attendSuccessor', min(c.effective_at), c.successor_subscription_id from subscription_change c
    where c.environment_id = s.environment_id and c.subscription_id = s.id and not c.attended group by c.successor_subscription_id) c) as plan_changes,
  ${phasesText} as phases,
  ${latePaymentColumns}
from subscription s where s.environment_id = $1 and s.id = ${anyOf('$2')}`;

/** The agendas of some subscriptions of one environment, from their rows and what surrounds them. */
export async function readAgendas(
  sql: Sql,
  environmentId: string,
  rows: readonly SubscriptionRow[],
): Promise<AttendedSubscription[]> {
  const found = await sql.rows<SurroundingsRow>(
    surroundingsText,
    [environmentId, rows.map((row) => row.id)],
    'subscription-surroundings',
  );
  const byId = new Map(found.map((surroundings) => [surroundings.id, surroundings]));
  return rows.map((row) => {
    const surroundings = byId.get(row.id);
    if (!surroundings) throw new Error(`subscription ${row.id} vanished inside its own transaction`);
    const agenda = subscriptionAgenda({
      state: row,
      invoices: surroundings.invoices.map(unattendedInvoice),
      renewalNoticedFor: row.renewalNoticedFor,
      grants: surroundings.grants.map(({ id, at }) => ({ id, scheduledFor: instantText(at) })),
      finalizationDelayMs: invoiceConfig(surroundings.invoice_config).finalizationDelaySeconds * 1000,
      openingPaidAt: surroundings.opening_paid_at ? instantText(surroundings.opening_paid_at) : null,
      latePayment: latePaymentOf(row, surroundings),
      phases: phasesOfRow(surroundings.phases),
      planChanges: (surroundings.plan_changes ?? []).map((change) => ({ ...change, at: instantText(change.at) })),
    });
    const [blockedOn, blockedReason] = surroundings.parked ?? [null, null];
    return { row, agenda, blockedOn, blockedReason };
  });
}

/** Reads the agendas after a change and writes them down in the same transaction. */
export async function refreshAgendas(
  sql: Sql,
  environmentId: string,
  rows: readonly SubscriptionRow[],
): Promise<AttendedSubscription[]> {
  if (rows.length === 0) return [];
  const attended = await readAgendas(sql, environmentId, rows);
  await replaceAgendas(
    sql,
    attended.map(({ row, agenda }) => ({
      tenantId: row.tenantId,
      environmentId: row.environmentId,
      objectType: 'subscription',
      objectId: row.id,
      customerId: row.customerId,
      testClockId: row.testClockId,
      items: agenda,
    })),
  );
  // A period that rolled, or a subscription that ended, may have been what kept credits of its payer.
  releaseLots(
    sql,
    rows[0]!,
    rows.map((row) => row.invoicingCustomerId),
  );
  return attended;
}

/**
 * Reads subscriptions whose invoices or payments changed and writes their agendas down, under their locks: whoever else writes an
 * agenda of theirs meanwhile has read what this does not know.
 */
export async function refreshSubscriptions(
  sql: Sql,
  environmentId: string,
  ids: readonly string[],
): Promise<AttendedSubscription[]> {
  const rows = await lockSubscriptions(sql, environmentId, ids);
  return refreshAgendas(sql, environmentId, [...rows.values()]);
}

function unattendedInvoice(invoice: SurroundingsRow['invoices'][number]): UnattendedInvoice {
  return {
    id: invoice.id,
    status: invoice.status,
    isManuallyEdited: invoice.edited,
    lastComputedAt: instantText(invoice.computedAt),
    finalizedAt: invoice.finalizedAt ? instantText(invoice.finalizedAt) : null,
    unsettled: invoice.unsettled,
    openPaymentId: invoice.openPaymentId,
  };
}

/**
 * Writes the agendas of incomplete subscriptions whose opening invoice was just paid, in the transaction that recorded the
 * payment: their activation is due from then on, whoever the payment belonged to.
 */
export async function refreshIncomplete(
  sql: Sql,
  environmentId: string,
  paid: readonly { invoicePaid: boolean; subscriptionId: string | null }[],
): Promise<void> {
  const ids = paid.flatMap(({ invoicePaid, subscriptionId }) =>
    invoicePaid && subscriptionId ? [subscriptionId] : [],
  );
  if (ids.length === 0) return;
  const rows = await readSubscriptions(sql, environmentId, ids);
  const incomplete = [...rows.values()].filter((row) => row.status === 'incomplete');
  if (incomplete.length === 0) return;
  await refreshSubscriptions(
    sql,
    environmentId,
    incomplete.map((row) => row.id),
  );
}

/** The one result of a call that was about one subscription. */
export function one(attended: readonly AttendedSubscription[]): AttendedSubscription {
  const [first] = attended;
  if (!first) throw refuse('not_found', 'the subscription was not found in this environment');
  return first;
}
