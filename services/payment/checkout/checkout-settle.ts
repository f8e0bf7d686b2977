import { checkoutMove, failureSentence, isCheckoutActive } from '../../../billing/payment/checkout.ts';
import { completionGivenUpAt } from '../../../billing/payment/checkout-agenda.ts';
import {
  decideByLink,
  type LinkCapture,
  type LinkDecision,
  type LinkOccasion,
  type LinkStanding,
} from '../../../billing/payment/checkout-link.ts';
import { newId } from '../../../db/id.ts';
import { decimalText, instantText } from '../../../db/rows/columns.ts';
import type { ScopedSql } from '../../../db/transaction.ts';
import { type CheckoutRow, changeCheckout, checkoutAudit, lockCheckout } from '../../collection/checkout-row.ts';
import { writeAudit } from '../../platform/audit.ts';
import { isPlanOvertaken } from '../../subscription/plan-change/subscription-planned.ts';
import { giveBackCapture, type UnappliedCapture } from '../unapplied-capture.ts';
import { cleanUpCheckout } from './checkout-clean-up.ts';
import { completeCheckout } from './checkout-complete.ts';
import type { CheckoutFollowers } from './checkout-followers.ts';

/** An answer about the link of a session; `link` is null when none came. */
export interface LinkAnswer {
  sessionId: string;
  occasion: LinkOccasion;
  link: LinkStanding | null;
  at: string;
}

const nobody: CheckoutFollowers = { refundIds: [], subscriptionId: null, invoiceId: null };

/**
 * Records what a provider says of the link of a session, or that it says nothing: the session is completed, ended or left waiting, once,
 * whoever else says the same. Money that is not its payment goes back. Throws `not_found`, and `invalid_operation` for a cancellation of
 * what is paid or being decided. spec: wallets-and-payments §2.17; design: money-in-checkout §A3, §A5, §A6, §A7, §A8
 */
export async function recordLink(
  tx: ScopedSql,
  { sessionId, occasion, link, at }: LinkAnswer,
): Promise<CheckoutFollowers> {
  const row = await lockCheckout(tx, sessionId);
  if (!isCheckoutActive(row.checkout_status)) {
    // Refuses where it has to.
    if (occasion === 'cancel') checkoutMove(row.checkout_status, 'cancel');
    return afterTheEnd(tx, row, link, at);
  }
  await noteDeclines(tx, row, link);
  const decision = await decide(tx, row, { link, occasion, at });
  if (decision.trigger === null) return waitOn(tx, row, link, at);
  if (decision.trigger === 'paid' || decision.trigger === 'saved') {
    const capture = 'capture' in decision ? decision.capture : null;
    const done = await completeCheckout(tx, row, {
      capture,
      savedMethod: link?.savedMethod ?? null,
      at,
    });
    return withRefunds(done ?? nobody, await giveBack(tx, row, { link, at, cause: 'second', paid: capture }));
  }
  const isDead = link !== null && (link.status === 'dead' || link.status === 'paid');
  const refusal = decision.trigger === 'mispaid' ? mispaidMessage(row, decision.capture) : undefined;
  await cleanUpCheckout(tx, row, {
    move: checkoutMove(row.checkout_status, decision.trigger),
    linkState: isDead ? 'dead' : 'open',
    at,
    ...(refusal === undefined ? {} : { message: refusal }),
  });
  const cause = decision.trigger === 'mispaid' ? 'wrong_amount' : 'late';
  const followers = { ...nobody, invoiceId: await finalInvoiceOf(tx, row) };
  return withRefunds(followers, await giveBack(tx, row, { link, at, cause }));
}

/**
 * Notes that a paid order could not be carried out: it is tried again for a day, and then given up, when its money goes back.
 * spec: wallets-and-payments §2.17 Claim
 */
export async function noteFailedCompletion(
  tx: ScopedSql,
  input: LinkAnswer & { reason: string },
): Promise<CheckoutFollowers> {
  const { at, link } = input;
  const row = await lockCheckout(tx, input.sessionId);
  if (!isCheckoutActive(row.checkout_status)) return nobody;
  const since = row.completion_failed_at === null ? at : instantText(row.completion_failed_at);
  if (at >= completionGivenUpAt(since)) {
    await cleanUpCheckout(tx, row, { move: checkoutMove(row.checkout_status, 'abandoned'), linkState: 'dead', at });
    return withRefunds(nobody, await giveBack(tx, row, { link, at, cause: 'late' }));
  }
  const reason = 'completion_delayed';
  const changed = await changeCheckout(tx, row, {
    sets: 'completion_failed_at = $4, failure_reason = $5, failure_message = $6, asked_at = $7, answered_at = $7',
    values: [since, reason, failureSentence(reason), at],
    at,
  });
  await writeAudit(tx, tx.scope, [
    checkoutAudit(changed!, 'completion failed', at, { reason: input.reason.slice(0, 500) }),
  ]);
  return nobody;
}

/** The invoice of a session that was final before it, and is collected again. */
async function finalInvoiceOf(tx: ScopedSql, { checkout_invoice_id: id, action }: CheckoutRow): Promise<string | null> {
  if (action !== 'pay_invoice') return null;
  const [row] = await tx.rows<{ id: string }>(
    `select id from invoice where environment_id = $1 and id = $2 and status = 'published' and checkout_session_id is null`,
    [tx.scope.environmentId, id],
    'final-invoice-of-checkout',
  );
  return row?.id ?? null;
}

/** A day after a link's last chance it is taken for dead, whatever its provider does not say. design: money-in-checkout §A4 */
export async function endWatch(tx: ScopedSql, sessionId: string, at: string): Promise<void> {
  const row = await lockCheckout(tx, sessionId);
  if (row.link_state !== 'open' || isCheckoutActive(row.checkout_status)) return;
  const changed = await changeCheckout(tx, row, { sets: `link_state = 'dead', asked_at = $4`, values: [at], at });
  await writeAudit(tx, tx.scope, [checkoutAudit(changed!, 'link ended', at)]);
}

/** What an answer means for a session that waits. An order that is paid, and of which what it changes has changed, is given up. */
async function decide(
  tx: ScopedSql,
  row: CheckoutRow,
  { link, occasion, at }: Pick<LinkAnswer, 'link' | 'occasion' | 'at'>,
): Promise<LinkDecision | { trigger: 'overtaken' }> {
  const decision = decideByLink(askedOf(row), link, occasion, at);
  if (decision.trigger !== 'paid' || row.planned === null || row.subscription_id === null) return decision;
  const isOvertaken = await isPlanOvertaken(tx, tx.scope, row.subscription_id, row.planned);
  return isOvertaken ? { trigger: 'overtaken' } : decision;
}

function askedOf(row: CheckoutRow) {
  return {
    id: row.id,
    paymentId: row.checkout_payment_id,
    amount: decimalText(row.amount),
    currency: row.currency,
    expiresAt: instantText(row.expires_at),
  };
}

async function waitOn(
  tx: ScopedSql,
  row: CheckoutRow,
  link: LinkStanding | null,
  at: string,
): Promise<CheckoutFollowers> {
  const changed = await changeCheckout(tx, row, {
    sets: `asked_at = $4, answered_at = case when $5 then $4 else answered_at end, method_declined = method_declined or $6`,
    values: [at, link !== null, row.checkout_payment_id === null && Boolean(link?.declines.length)],
    at,
  });
  await writeAudit(tx, tx.scope, [checkoutAudit(changed!, 'asked', at, { link: link?.status ?? 'no answer' })]);
  return nobody;
}

/** A session that has ended: its link is dead once the provider says so, and money it took since goes back. */
async function afterTheEnd(
  tx: ScopedSql,
  row: CheckoutRow,
  link: LinkStanding | null,
  at: string,
): Promise<CheckoutFollowers> {
  const cause = row.checkout_status === 'completed' ? 'second' : 'late';
  const refundIds = await giveBack(tx, row, { link, at, cause });
  // A step whose answer was lost is asked again, and its followers with it.
  const isDone = row.checkout_status === 'completed';
  const followers = { ...nobody, refundIds, subscriptionId: isDone ? row.subscription_id : null };
  if (row.link_state !== 'open') return followers;
  const isDead = link !== null && link.status !== 'open' && link.status !== 'processing';
  const changed = await changeCheckout(tx, row, {
    sets: `asked_at = $4, answered_at = case when $5 then $4 else answered_at end, link_state = case when $6 then 'dead' else link_state end`,
    values: [at, link !== null, isDead],
    at,
  });
  await writeAudit(tx, tx.scope, [
    checkoutAudit(changed!, isDead ? 'link ended' : 'asked', at, { link: link?.status ?? 'no answer' }),
  ]);
  return followers;
}

interface MoneyBack {
  link: LinkStanding | null;
  at: string;
  cause: UnappliedCapture['cause'];
  /** The capture that pays the session. */
  paid?: LinkCapture | null;
}

/** Money of a link that no payment of the session stands for yet, but for `paid`: recorded and given back. */
async function giveBack(tx: ScopedSql, row: CheckoutRow, { link, at, cause, paid }: MoneyBack): Promise<string[]> {
  const paymentId = row.checkout_payment_id;
  const refundIds: string[] = [];
  if (paymentId === null) return refundIds;
  for (const capture of link?.captures ?? []) {
    if (capture === paid) continue;
    const currency = capture.currency.toLowerCase();
    const given = await giveBackCapture(tx, { ...capture, currency, paymentId, cause, at });
    refundIds.push(...given.refundIds);
  }
  return refundIds;
}

function withRefunds(followers: CheckoutFollowers, refundIds: readonly string[]): CheckoutFollowers {
  return { ...followers, refundIds: [...followers.refundIds, ...refundIds] };
}

function mispaidMessage(row: CheckoutRow, capture: LinkCapture): string {
  const asked = `${decimalText(row.amount)} ${row.currency}`;
  return `${decimalText(capture.amount)} ${capture.currency} was paid where ${asked} was asked; it goes back to its payer.`;
}

/** Each declined attempt once. spec: wallets-and-payments §2.17 declined attempt */
export async function noteDeclines(tx: ScopedSql, row: CheckoutRow, link: LinkStanding | null): Promise<void> {
  for (const { chargeProviderId, code, class: declineClass } of link?.declines ?? []) {
    await tx.rows(
      `insert into payment_attempt (id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by, payment_id,
         attempt_number, payment_status, gateway_attempt_id, error_message, metadata)
       select $1, tenant_id, environment_id, $4, $5, $4, $5, id,
         1 + (select coalesce(max(attempt_number), 0) from payment_attempt a where a.payment_id = p.id), 'FAILED', $6, $7,
         jsonb_build_object('decline_code', $7::text, 'decline_class', $8::text)
       from payment p where p.environment_id = $2 and p.id = $3 and not exists (
         select from payment_attempt a where a.payment_id = p.id and a.gateway_attempt_id = $6)`,
      [
        newId('attempt'),
        tx.scope.environmentId,
        row.checkout_payment_id,
        new Date().toISOString(),
        tx.scope.actor,
        chargeProviderId,
        code,
        declineClass,
      ],
    );
  }
}
