import { instantText } from '../../db/rows/columns.ts';
import type { ScopedSql } from '../../db/transaction.ts';
import type { NotificationFate, OpenNotification } from './inbound-event.ts';

/** The object of ours that a notification is about. */
export interface Recipient {
  kind: RecipientKind;
  id: string;
  customerId: string;
  testClockId: string | null;
  /** Time of its test clock; null on real time. */
  clockTime: string | null;
  /**
   * `told`: its workflow asks the provider. `opened`: whoever opened it is asking already. `captured`: only money that goes back can still
   * change it. `ended`: a session whose page is closed, to which a bank may still send money. `settled`: nothing can.
   */
  standing: 'told' | 'opened' | 'captured' | 'ended' | 'settled';
  /** The provider told of money that goes back, of a payment: somebody may have sent it there. */
  isOfRefund: boolean;
}

export type RecipientKind = 'payment' | 'refund' | 'checkout_session';

interface RecipientRow extends Omit<Recipient, 'isOfRefund'> {
  provider: string;
  /** The provider's names of it. */
  providerIds: string[];
}

/** A notification and what is done with it. */
export interface Addressed {
  notification: OpenNotification;
  /** Null where nobody is told of it now. */
  recipient: Recipient | null;
  fate: NotificationFate;
}

/** Pauses since it came, after which a notification is looked for again whose object is not there. design: money-in §6 */
const pausesMs = [5_000, 60_000, 600_000, 3_600_000, 86_400_000];
/** Looks after which the workflow of an object is told although its opener should be asking. */
const patientLooks = 2;

/**
 * Finds what notifications are about: by the name of ours that the provider's object carries, which alone counts where it is there, else by
 * the provider's ids. A name of another environment, and an object that carries none and is in no table, is not ours. A name of this
 * environment without its row may be of a transaction that has not committed: it is looked for again for a day.
 * spec: README decision 30; design: money-in-checkout §A13
 */
export async function addressNotifications(
  tx: ScopedSql,
  notifications: readonly OpenNotification[],
  { now, tellsOfRefund }: { now: string; tellsOfRefund(provider: string, eventType: string): boolean },
): Promise<Addressed[]> {
  const marked = notifications.flatMap(({ marker }) => (marker ? [marker] : []));
  const idsOf = (kind: RecipientKind) => marked.filter((each) => each.kind === kind).map(({ id }) => id);
  const providers = [...new Set(notifications.map(({ provider }) => provider))];
  const providerIds = [...new Set(notifications.flatMap((each) => each.providerIds))];
  const rows = await tx.rows<RecipientRow & Record<string, unknown>>(recipientsText, [
    tx.scope.environmentId,
    idsOf('payment'),
    idsOf('refund'),
    providers,
    providerIds,
    idsOf('checkout_session'),
  ]);
  return notifications.map((notification) => {
    const isOfRefund = tellsOfRefund(notification.provider, notification.eventType);
    return addressed(notification, rows, { environmentId: tx.scope.environmentId, now, isOfRefund });
  });
}

function addressed(
  notification: OpenNotification,
  rows: readonly RecipientRow[],
  { environmentId, now, isOfRefund: tellsOfRefund }: { environmentId: string; now: string; isOfRefund: boolean },
): Addressed {
  const { marker, provider, providerIds } = notification;
  const ofProvider = rows.filter((row) => row.provider === provider);
  if (marker && (marker.environment !== environmentId || !isKind(marker.kind))) return done(notification, 'not_ours');
  // The provider's own order: the object itself before those it belongs to.
  const found = marker
    ? ofProvider.find(({ kind, id }) => kind === marker.kind && id === marker.id)
    : providerIds.flatMap((id) => ofProvider.find((row) => row.providerIds.includes(id)) ?? [])[0];
  if (!found) return marker ? lookedForAgain(notification, now) : done(notification, 'not_ours');
  const { kind, id, customerId, testClockId, clockTime, standing } = found;
  const isOfRefund = tellsOfRefund && kind === 'payment';
  const isOver = standing === 'settled' || (standing === 'captured' && !isOfRefund);
  if (isOver || (standing === 'ended' && !namesUnknown(providerIds, ofProvider)))
    return done(notification, 'settled', found);
  if (standing === 'opened' && notification.attempt < patientLooks) return lookedForAgain(notification, now);
  const recipient = {
    kind,
    id,
    customerId,
    testClockId,
    clockTime: clockTime && instantText(clockTime),
    standing,
    isOfRefund,
  };
  return { ...done(notification, 'passed_on', found), recipient };
}

/** Whether what a notification is about, the first of its ids, is neither a page nor a payment that is recorded here. */
function namesUnknown([subject]: readonly string[], rows: readonly RecipientRow[]): boolean {
  return subject !== undefined && !rows.some((row) => row.providerIds.includes(subject));
}

function isKind(kind: string): kind is RecipientKind {
  return kind === 'payment' || kind === 'refund' || kind === 'checkout_session';
}

function done(
  notification: OpenNotification,
  outcome: NotificationFate['outcome'],
  object?: Pick<Recipient, 'kind' | 'id'>,
): Addressed {
  const { id } = notification;
  const fate = { id, outcome, dueAt: null, objectType: object?.kind ?? null, objectId: object?.id ?? null };
  return { notification, recipient: null, fate };
}

function lookedForAgain(notification: OpenNotification, now: string): Addressed {
  const { id, attempt, receivedAt } = notification;
  const pauseMs = pausesMs[attempt];
  if (pauseMs === undefined) return done(notification, 'unmatched');
  const at = Math.max(Date.parse(instantText(receivedAt)) + pauseMs, Date.parse(now) + 1);
  const fate = { id, outcome: null, dueAt: new Date(at).toISOString(), objectType: null, objectId: null };
  return { notification, recipient: null, fate };
}

const columns = (kind: RecipientKind, provider: string) =>
  `'${kind}' as kind, o.id, o.customer_id as "customerId", o.test_clock_id as "testClockId", c.frozen_time as "clockTime", ${provider} as provider`;
const rest = (kind: RecipientKind) => `from ${kind} o left join test_clock c on c.id = o.test_clock_id
  where o.environment_id = $1 and o.payment_gateway = any($4)`;
/** Second id of a charge that is named by its page and itself, which a provider may name alone. docs: nomod.md */
const chargeOfPage = `nullif(split_part(o.gateway_payment_id, '/', 2), '')`;
const paymentColumns = `${columns('payment', 'o.payment_gateway')},
  case when o.payment_status in ('SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED', 'REFUNDED') then 'captured'
    when o.payment_status <> 'PROCESSING' then 'settled' when o.attended then 'told' else 'opened' end as standing,
  array_remove(array[o.gateway_payment_id, ${chargeOfPage}, o.provider_object_id], null) as "providerIds"`;
// A refund that succeeded may be taken back by a bank, days later; the money of a lost dispute is its payment's affair.
const refundColumns = `${columns('refund', 'o.payment_gateway')},
  case when o.refund_destination = 'GATEWAY' and o.refund_status in ('PROCESSING', 'SUCCEEDED') then 'told' else 'settled' end as standing,
  array_remove(array[case when not o.metadata ? 'dispute_id' then o.gateway_refund_id end], null) as "providerIds"`;
const sessionText = `
select ${columns('checkout_session', 'o.payment_provider')},
  case when o.checkout_status in ('initiated', 'pending') and o.link_state = 'none' then 'opened'
    when o.checkout_status in ('initiated', 'pending') or o.link_state = 'open' then 'told'
    when o.link_state = 'dead' and o.checkout_payment_id is not null then 'ended' else 'settled' end as standing,
  array_remove(array[o.provider_session_id], null) as "providerIds"
from checkout_session o left join test_clock c on c.id = o.test_clock_id
where o.environment_id = $1 and o.payment_provider = any($4)`;

// Each by a key of its own: an `or` of them would read the table.
const recipientsText = `
select ${paymentColumns} ${rest('payment')} and o.id = any($2)
union all select ${refundColumns} ${rest('refund')} and o.id = any($3)
union all select ${refundColumns} ${rest('refund')} and o.gateway_refund_id = any($5)
union all select ${paymentColumns} ${rest('payment')} and o.gateway_payment_id = any($5)
union all select ${paymentColumns} ${rest('payment')} and o.provider_object_id = any($5)
union all select ${paymentColumns} ${rest('payment')} and ${chargeOfPage} = any($5)
union all ${sessionText} and o.id = any($6)
union all ${sessionText} and o.provider_session_id = any($5)`;
