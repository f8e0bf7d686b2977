import { type AgendaItem, sortAgenda } from '../../billing/agenda.ts';
import type { CheckoutAction, CheckoutStatus } from '../../billing/payment/checkout.ts';
import { checkoutAgenda } from '../../billing/payment/checkout-agenda.ts';
import type { PlannedChange } from '../../billing/subscription/planned-change.ts';
import { instantText } from '../../db/rows/columns.ts';
import { missing } from '../../db/rows/record.ts';
import type { ScopedSql } from '../../db/transaction.ts';
import { lifecycleKinds } from '../../lifecycles/kinds.ts';
import { replaceAgendas } from '../lifecycle/agenda.ts';
import type { AuditRecord } from '../platform/audit.ts';
import type { CheckoutEvent } from '../platform/event-catalogue/payment-events.ts';
import { instantOrNull } from './payment-row.ts';

/** The columns of a session as named SQL reads them; timestamps and numerics are PostgreSQL text. */
export interface CheckoutRow {
  id: string;
  tenant_id: string;
  environment_id: string;
  status: string;
  customer_id: string;
  action: CheckoutAction;
  checkout_status: CheckoutStatus;
  configuration: Record<string, unknown>;
  payment_provider: string;
  provider_config: Record<string, string>;
  amount: string;
  currency: string;
  checkout_invoice_id: string | null;
  checkout_payment_id: string | null;
  connection_id: string | null;
  wallet_id: string | null;
  subscription_id: string | null;
  purchase_id: string | null;
  planned: PlannedChange | null;
  page_token: string | null;
  base_url: string;
  provider_session_id: string | null;
  method_tokens: string[];
  provider_url: string | null;
  provider_expires_at: string | null;
  link_state: 'none' | 'open' | 'dead';
  failure_reason: string | null;
  opened_at: string;
  expires_at: string;
  asked_at: string | null;
  answered_at: string | null;
  completion_failed_at: string | null;
  ended_at: string | null;
  completed_at: string | null;
  cancelled_at: string | null;
  created_at: string;
  metadata: Record<string, string>;
  test_clock_id: string | null;
  version: number;
  [column: string]: unknown;
}

export const checkoutColumns = `id, tenant_id, environment_id, status, customer_id, action, checkout_status, configuration, payment_provider,
  provider_config, amount, currency, checkout_invoice_id, checkout_payment_id, connection_id, wallet_id, subscription_id, purchase_id, planned, page_token, base_url,
  provider_session_id, method_tokens, provider_url, provider_expires_at, link_state, failure_reason, opened_at, expires_at, asked_at, answered_at,
  completion_failed_at, ended_at, completed_at, cancelled_at, created_at, metadata, test_clock_id, version`;

/** Locks a session, an archived one too: money may still come for it. First of all locks. Throws `not_found`. spec: wallets-and-payments §0 Locks */
export async function lockCheckout(tx: ScopedSql, id: string): Promise<CheckoutRow> {
  const [row] = await tx.rows<CheckoutRow>(
    `select ${checkoutColumns} from checkout_session where environment_id = $1 and id = $2 for update`,
    [tx.scope.environmentId, id],
    'checkout-locked',
  );
  if (!row) throw missing('checkout session', id);
  return row;
}

/**
 * Changes a locked session by `sets`, whose parameters begin at $4, under `condition`; null where that does not hold any more. Writes
 * its agenda from `at` on. A change that many sessions come to at one time names its `plan`.
 */
export async function changeCheckout(
  tx: ScopedSql,
  row: CheckoutRow,
  change: { sets: string; values?: readonly unknown[]; at: string; condition?: string; plan?: string },
): Promise<CheckoutRow | null> {
  const [changed] = await tx.rows<CheckoutRow>(
    `update checkout_session set ${change.sets}, version = version + 1, updated_at = $2, updated_by = $3
     where id = $1 and ${change.condition ?? 'true'} returning ${checkoutColumns}`,
    [row.id, new Date().toISOString(), tx.scope.actor, ...(change.values ?? [])],
    change.plan,
  );
  if (!changed) return null;
  await writeCheckoutAgenda(tx, changed, change.at);
  return changed;
}

/** Writes down what time brings to a session from `at` on. */
export async function writeCheckoutAgenda(tx: ScopedSql, row: CheckoutRow, at: string): Promise<void> {
  await replaceAgendas(tx, [
    {
      tenantId: row.tenant_id,
      environmentId: row.environment_id,
      objectType: 'checkout_session',
      objectId: row.id,
      customerId: row.customer_id,
      testClockId: row.test_clock_id,
      items: agendaOf(row, at),
    },
  ]);
}

function agendaOf(row: CheckoutRow, at: string): AgendaItem[] {
  return checkoutAgenda(
    {
      checkoutStatus: row.checkout_status,
      linkState: row.link_state,
      openedAt: instantText(row.opened_at),
      expiresAt: instantText(row.expires_at),
      linkExpiresAt: instantOrNull(row.provider_expires_at),
      askedAt: instantOrNull(row.asked_at),
      completionFailedAt: instantOrNull(row.completion_failed_at),
      endedAt: instantOrNull(row.ended_at),
    },
    at,
  );
}

/** A session as its workflow sees it between two activities. */
export interface CheckoutState {
  row: CheckoutRow;
  agenda: AgendaItem[];
  blockedOn: string | null;
  blockedReason: string | null;
}

interface StateRow extends CheckoutRow {
  parked: [string, string] | null;
  agenda: { at: string; kind: string }[];
}

/** The state of a session for its workflow; null when there is none of this id. */
export async function loadCheckoutState(tx: ScopedSql, id: string): Promise<CheckoutState | null> {
  const [row] = await tx.rows<StateRow>(
    `select ${checkoutColumns},
       (select array[step, reason] from parked_object o
        where o.environment_id = $1 and o.object_type = 'checkout_session' and o.object_id = s.id) as parked,
       coalesce((select jsonb_agg(jsonb_build_object('kind', kind, 'at', due_at::text)) from agenda_entry a
        where a.environment_id = $1 and a.object_type = 'checkout_session' and a.object_id = s.id), '[]') as agenda
     from checkout_session s where s.environment_id = $1 and s.id = $2`,
    [tx.scope.environmentId, id],
    'checkout-state',
  );
  if (!row) return null;
  const { parked, agenda, ...session } = row;
  const items = agenda.map((item) => ({ at: instantText(item.at), kind: item.kind, ref: '' }));
  return {
    row: session as CheckoutRow,
    agenda: sortAgenda(items, lifecycleKinds.checkout_session.agenda),
    blockedOn: parked?.[0] ?? null,
    blockedReason: parked?.[1] ?? null,
  };
}

/** An event of a session. spec: wallets-and-payments §2.24 */
export function checkoutEvent(
  name: CheckoutEvent['name'],
  row: CheckoutRow,
  at: string,
  url: string | null = null,
): CheckoutEvent {
  const session = {
    id: row.id,
    customer_id: row.customer_id,
    action: row.action,
    checkout_status: row.checkout_status,
    payment_provider: row.payment_provider,
    checkout_invoice_id: row.checkout_invoice_id,
    checkout_payment_id: row.checkout_payment_id,
    failure_reason: row.failure_reason,
    expires_at: instantText(row.expires_at),
    completed_at: instantOrNull(row.completed_at),
    cancelled_at: instantOrNull(row.cancelled_at),
    payment_action: url === null ? null : { type: 'checkout_url' as const, url },
  };
  return {
    name,
    entityType: 'checkout_session',
    entityId: row.id,
    payload: { checkout_session: session },
    occurredAt: at,
  };
}

/** The audit row of a session's change. */
export function checkoutAudit(
  row: CheckoutRow,
  action: string,
  at: string,
  detail: Record<string, unknown> = {},
): AuditRecord {
  return { objectType: 'checkout_session', objectId: row.id, action, version: row.version, occurredAt: at, detail };
}
