import { amountToCollect } from '../../../billing/invoice/gated-invoice.ts';
import type { NewInvoice } from '../../../billing/invoice/invoice-request.ts';
import { currencyPrecision, decimal, decimalString } from '../../../billing/money/money.ts';
import type { NewAttachment, NewSubscription } from '../../../billing/subscription/new-subscription.ts';
import type { QuantityChanges } from '../../../billing/subscription/subscription-change.ts';
import { newId } from '../../../db/id.ts';
import { decimalText } from '../../../db/rows/columns.ts';
import { badField } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { createInvoice } from '../../invoice/draft/invoice-create.ts';
import { freezeSubscription } from '../../subscription/create/subscription-frozen.ts';
import { freezeAddon, freezeQuantities } from '../../subscription/plan-change/subscription-planned.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { billPurchase } from '../../wallet/invoiced-topup.ts';
import { type TopupRequest, topUpWallet } from '../../wallet/wallet-topup.ts';
import { cartKey } from './cart-key.ts';
import { type CheckoutRequest, findMade, insertCheckout, refuseRunning } from './checkout-insert.ts';
import type { CheckoutOwner } from './checkout-owner.ts';

/** A drafted session: everything it would do is written down, and nothing of it is true before it is paid. */
export interface DraftedCheckout {
  sessionId: string;
  invoiceId: string;
  purchaseId: string | null;
}

/**
 * Drafts an invoice that its session pays: its amounts are frozen and its credits taken. Done again with the same session it changes
 * nothing. Throws `validation_error` for nothing to pay, `already_exists`, and what `createInvoice` throws.
 * spec: wallets-and-payments §2.18; subscriptions-and-invoicing §2.15.11
 */
export async function draftInvoiceCheckout(
  tx: Transaction,
  request: CheckoutRequest,
  input: { invoiceId: string; invoice: NewInvoice; configuration: Record<string, unknown>; owner: CheckoutOwner },
  readUsage: UsageReader,
): Promise<DraftedCheckout> {
  const { invoiceId, invoice, owner } = input;
  const made = { sessionId: request.sessionId, invoiceId, purchaseId: null };
  if (await findMade(tx, request.sessionId)) return made;
  const subject = { action: 'pay_invoice', configuration: { pay_invoice_params: input.configuration } } as const;
  await refuseRunning(tx, request, { key: keyOf(request, owner, subject) });
  const gate = { checkoutSessionId: request.sessionId };
  await createInvoice(tx, tx.scope, { invoiceId, at: owner.at, invoice, ...gate }, readUsage);
  const amount = await collectable(tx, invoiceId);
  await insertCheckout(
    tx,
    request,
    { ...owner, ...subject, invoiceId, amount, currency: invoice.currency },
    newId('pay'),
  );
  return made;
}

/**
 * Drafts a purchase of credits that its session pays: credits and bonus are pending, its invoice waits. Throws what `topUpWallet` and
 * `createInvoice` throw, and `already_exists` while another session of the wallet is active. spec: wallets-and-payments §2.6, §2.17
 */
export async function draftTopupCheckout(
  tx: Transaction,
  request: CheckoutRequest,
  input: { topup: TopupRequest; configuration: Record<string, unknown>; owner: CheckoutOwner },
  readUsage: UsageReader,
): Promise<DraftedCheckout> {
  const { topup, owner } = input;
  const { walletId } = topup;
  const earlier = await findMade(tx, request.sessionId);
  if (earlier) {
    const { checkout_invoice_id: invoiceId, purchase_id: purchaseId } = earlier;
    return { sessionId: request.sessionId, invoiceId: invoiceId ?? '', purchaseId };
  }
  const subject = { action: 'wallet_topup', configuration: { wallet_topup_params: input.configuration } } as const;
  await refuseRunning(tx, request, { key: keyOf(request, owner, subject), walletId });
  const { entry, wallet } = await topUpWallet(tx, topup, { isPending: true });
  const amount = decimal(entry.amount as string).toDecimalPlaces(currencyPrecision(wallet.currency));
  if (amount.isZero()) throw badField('credits_to_add', `costs less than the smallest amount of ${wallet.currency}`);
  const invoiceId = newId('inv');
  const bill = { amount: decimalString(amount), isPaid: false, automatic: null, wallet, entry, invoiceId };
  await billPurchase(tx, { ...bill, checkoutSessionId: request.sessionId }, readUsage);
  await insertCheckout(
    tx,
    request,
    {
      ...owner,
      ...subject,
      invoiceId,
      amount: await collectable(tx, invoiceId),
      currency: wallet.currency,
      walletId,
      purchaseId: entry.id,
    },
    newId('pay'),
  );
  return { sessionId: request.sessionId, invoiceId, purchaseId: entry.id };
}

/** Thrown to take a draft back of which nothing is to be paid. */
export class NothingToPay extends Error {
  override readonly name = 'NothingToPay';
}

/**
 * Drafts a subscription that its session pays, with its opening invoice. Throws `NothingToPay` where nothing is to be paid at once,
 * `already_exists`, and what a creation throws. spec: wallets-and-payments §2.17 Gating
 */
export async function draftSubscriptionCheckout(
  tx: Transaction,
  request: CheckoutRequest,
  input: { subscription: NewSubscription; configuration: Record<string, unknown>; owner: CheckoutOwner },
  readUsage: UsageReader,
): Promise<DraftedCheckout> {
  const { subscription, owner } = input;
  const { subscriptionId } = subscription;
  const earlier = await findMade(tx, request.sessionId);
  if (earlier) {
    return { sessionId: request.sessionId, invoiceId: earlier.checkout_invoice_id ?? '', purchaseId: null };
  }
  const configuration = { create_subscription_params: input.configuration };
  const subject = { action: 'create_subscription', configuration } as const;
  await refuseRunning(tx, request, { key: keyOf(request, owner, subject) });
  const frozen = await freezeSubscription(tx, tx.scope, subscription, readUsage, request.sessionId);
  if (frozen === null) throw new NothingToPay();
  const { invoiceId, amountDue: amount } = frozen;
  await insertCheckout(
    tx,
    request,
    { ...owner, ...subject, invoiceId, amount, currency: subscription.currency, subscriptionId },
    newId('pay'),
  );
  return { sessionId: request.sessionId, invoiceId, purchaseId: null };
}

/** A change of a subscription that its session pays: an add-on by its own operation or as a modification, or new quantities. */
export type OrderedChange =
  | { action: 'add_addon' | 'modify_subscription'; attachment: NewAttachment }
  | { action: 'modify_subscription'; quantities: QuantityChanges };

/**
 * Drafts a change of a subscription that its session pays. Throws `NothingToPay` where nothing is to be paid at once, `already_exists`
 * while another session of the subscription is active, and what the change throws. spec: wallets-and-payments §2.17 Gating
 */
export async function draftChangeCheckout(
  tx: Transaction,
  request: CheckoutRequest,
  input: {
    subscriptionId: string;
    change: OrderedChange;
    configuration: Record<string, unknown>;
    owner: CheckoutOwner;
  },
  readUsage: UsageReader,
): Promise<DraftedCheckout> {
  const { subscriptionId, change, owner } = input;
  const earlier = await findMade(tx, request.sessionId);
  if (earlier) {
    return { sessionId: request.sessionId, invoiceId: earlier.checkout_invoice_id ?? '', purchaseId: null };
  }
  const { action } = change;
  const subject = { action, configuration: { [`${action}_params`]: input.configuration } };
  await refuseRunning(tx, request, { key: keyOf(request, owner, subject), subscriptionId });
  const waiting = { subscriptionId, checkoutSessionId: request.sessionId, at: owner.at };
  const frozen =
    'attachment' in change
      ? await freezeAddon(tx, tx.scope, { ...waiting, attachment: change.attachment }, readUsage)
      : await freezeQuantities(tx, tx.scope, { ...waiting, input: change.quantities });
  if (frozen === null) throw new NothingToPay();
  const { plan: planned, row, invoiceId, amountDue: amount } = frozen;
  const asked = { ...owner, ...subject, invoiceId, amount, currency: row.currency, subscriptionId, planned };
  await insertCheckout(tx, request, { ...asked, notAfter: row.currentPeriodEnd }, newId('pay'));
  return { sessionId: request.sessionId, invoiceId, purchaseId: null };
}

function keyOf(
  request: CheckoutRequest,
  { customerId }: CheckoutOwner,
  subject: { action: string; configuration: unknown },
): string {
  return request.idempotencyKey ?? cartKey(customerId, subject.action, subject.configuration);
}

/** What is to be paid of a frozen invoice. Throws `validation_error` for nothing. */
async function collectable(tx: Transaction, invoiceId: string): Promise<string> {
  const [row] = await tx.rows<{ due: string; credits: string }>(
    'select amount_due as due, total_prepaid_credits_applied as credits from invoice where environment_id = $1 and id = $2',
    [tx.scope.environmentId, invoiceId],
  );
  const credits = decimalText(row!.credits);
  const total = decimal(decimalText(row!.due)).plus(credits);
  return decimalString(amountToCollect(decimalString(total), credits));
}
