import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { customerNow } from '../../db/clock.ts';
import type { Payment } from '../../db/entities/payment/payment.ts';
import { badField } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { insertLinkPayment } from '../../services/collection/checkout-payment.ts';
import { draftPaymentLink, linksToClose, payableByLink } from '../../services/payment/checkout/payment-link.ts';
import type { PaymentWithAttempts } from '../../services/payment/payment-list.ts';
import { earlierPayment, hashedKey } from '../../services/payment/payment-request.ts';
import { type LifecycleObject, tellOrStart } from '../lifecycle.ts';
import { checkoutRequestOf, openAtProvider, pageUrlOf, type SessionOpener } from './checkout-workflow.ts';
import { type createPaymentBody, paymentRequestOf, viewPayment } from './payment.schema.ts';

type Body = z.output<typeof createPaymentBody>;

/**
 * Makes a payment by its payer on a page, which is opened at once unless it is not to be processed yet; gives its id. A repeated key gets
 * the payment of its first use, unless that failed. spec: wallets-and-payments §1.5, §2.19; design: money-in-checkout §A9
 */
export async function createPaymentLink(request: FastifyRequest, body: Body): Promise<string> {
  const input = paymentRequestOf(body, request.idempotencyKey);
  if (input.destinationType !== 'INVOICE') throw badField('destination_type', 'must be INVOICE for PAYMENT_LINK');
  const provider = input.paymentGateway;
  if (provider === null) throw badField('payment_gateway', 'is required for PAYMENT_LINK');
  const id = request.newId('pay');
  const key = input.idempotencyKey ?? hashedKey({ ...input, paymentMethodId: null });
  const { destinationId: invoiceId, currency } = input;
  const found = await request.transaction(async (tx) => {
    const earlier = await earlierPayment(tx, id, key);
    if (earlier) return { earlier: earlier.id };
    const invoice = await payableByLink(tx, invoiceId);
    if (invoice.currency !== currency) {
      throw badField('currency', `must be ${invoice.currency}, the currency of the invoice`);
    }
    const at = await customerNow(tx, invoice.customer_id);
    return { earlier: null, owner: { customerId: invoice.customer_id, testClockId: invoice.test_clock_id, at } };
  });
  if (found.earlier !== null) return found.earlier;
  const savesMethod = body.save_card_and_make_default === true;
  if (savesMethod && provider !== 'stripe') {
    throw badField('save_card_and_make_default', `is only for payment links of stripe, and this one is of ${provider}`);
  }
  const asked = await checkoutRequestOf(
    request,
    { payment_provider: provider, success_url: body.success_url, cancel_url: body.cancel_url },
    savesMethod ? 'always' : 'never',
  );
  const session = savesMethod ? { ...asked, providerConfig: { ...asked.providerConfig, set_default: 'true' } } : asked;
  const payment = { idempotencyKey: key, metadata: input.metadata };
  const order = { invoiceId, amount: input.amount, paymentId: id, payment, owner: found.owner };
  if (!input.processPayment) {
    await request.transaction(async (tx) => {
      const invoice = await payableByLink(tx, invoiceId);
      const link = { id, provider, sessionId: null, invoice, amount: input.amount, at: found.owner.at, ...payment };
      await insertLinkPayment(tx, link);
    });
    return id;
  }
  await request.transaction((tx) => draftPaymentLink(tx, session, order));
  await openAtProvider(request, session.sessionId, found.owner);
  return id;
}

/** Opens the page of a payment that was made without one. spec: wallets-and-payments §2.19 process */
export async function processLink(request: FastifyRequest, row: Payment): Promise<void> {
  const session = await checkoutRequestOf(request, { payment_provider: row.paymentGateway ?? '' });
  const { id: paymentId, destinationId: invoiceId, amount, customerId } = row;
  const at = await request.transaction((tx) => customerNow(tx, customerId));
  const owner = { customerId, testClockId: row.testClockId ?? null, at };
  const order = { invoiceId, amount, paymentId, isAdopted: true, owner };
  await request.transaction((tx) => draftPaymentLink(tx, session, order));
  await openAtProvider(request, session.sessionId, owner);
}

/** Opens a page for all that remains of a final invoice; gives its session's id and that of the payment. */
export async function openInvoicePage(
  request: SessionOpener,
  invoiceId: string,
  input: Parameters<typeof checkoutRequestOf>[1],
): Promise<{ sessionId: string; paymentId: string }> {
  const session = await checkoutRequestOf(request, input);
  const paymentId = request.newId('pay');
  const owner = await request.transaction(async (tx) => {
    const invoice = await payableByLink(tx, invoiceId);
    const at = await customerNow(tx, invoice.customer_id);
    const owner = { customerId: invoice.customer_id, testClockId: invoice.test_clock_id, at };
    await draftPaymentLink(tx, session, { invoiceId, amount: null, paymentId, owner });
    return owner;
  });
  await openAtProvider(request, session.sessionId, owner);
  return { sessionId: session.sessionId, paymentId };
}

const shownWhile = ['INITIATED', 'PENDING', 'FAILED'];

/** Payments as they are answered: one by link with the address of its page, which is good as long as its invoice can be paid. */
export async function viewPayments(
  request: Pick<FastifyRequest, 'server'>,
  tx: Transaction,
  payments: readonly PaymentWithAttempts[],
) {
  const ids = payments.flatMap(({ row }) =>
    row.checkoutSessionId && shownWhile.includes(row.paymentStatus) ? [row.checkoutSessionId] : [],
  );
  const sessions =
    ids.length === 0
      ? []
      : await tx.rows<{ id: string; tokenHash: string; baseUrl: string }>(
          'select id, token_hash as "tokenHash", base_url as "baseUrl" from checkout_session where environment_id = $1 and id = any($2)',
          [tx.scope.environmentId, ids],
        );
  const urls = new Map(sessions.map((session) => [session.id, pageUrlOf(request, session)]));
  return payments.map((payment) => {
    const { checkoutSessionId: id, paymentUrl } = payment.row;
    return { ...viewPayment(payment), payment_url: (id && urls.get(id)) || (paymentUrl ?? null) };
  });
}

/** After the commit: pages of an invoice that its change has ended are closed. */
export async function closeEndedLinks(
  request: Parameters<typeof tellOrStart>[0] & Pick<FastifyRequest, 'transaction'>,
  invoiceId: string,
  owner: Pick<LifecycleObject, 'customerId' | 'testClockId' | 'at'>,
): Promise<void> {
  const { customerId, testClockId, at } = owner;
  const ids = await request.transaction((tx) => linksToClose(tx, tx.scope, invoiceId));
  await Promise.all(
    ids.map((id) => tellOrStart(request, { kind: 'checkout_session', id, customerId, testClockId, at })),
  );
}
