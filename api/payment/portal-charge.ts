import type { FastifyRequest } from 'fastify';
import { refusalIn } from '../../billing/refusal.ts';
import { decimalText } from '../../db/rows/columns.ts';
import { portalInvoice } from '../../services/across/portal.ts';
import { requestPayment } from '../../services/payment/payment-request.ts';
import { connectedGateways, processAtWorkflow } from './payment-workflow.ts';

/**
 * Charges what remains of an invoice of the customer of the session to its saved method; gives the payment's id, also where it was declined.
 * A charge that is under way already is the answer, and none is made beside it. Throws `not_found`, and `invalid_operation` for an invoice
 * that is not to be paid. spec: wallets-and-payments §1.8 customer_not_present
 */
export async function chargeSavedMethod(
  request: FastifyRequest,
  invoiceId: string,
  idempotencyKey: string | null,
): Promise<string> {
  const { portalCustomerId, server } = request;
  try {
    const requested = await request.transaction(async (tx) => {
      const { row } = await portalInvoice(tx, portalCustomerId, invoiceId);
      return requestPayment(tx, {
        id: request.newId('pay'),
        destinationType: 'INVOICE',
        destinationId: invoiceId,
        paymentMethodType: 'CARD',
        paymentMethodId: null,
        paymentGateway: null,
        amount: decimalText(row.amountRemaining),
        currency: row.currency,
        processPayment: true,
        idempotencyKey,
        metadata: {},
        gateways: await connectedGateways(tx, server.dependencies),
      });
    });
    if (requested.toProcess) await processAtWorkflow(request.temporal, request.scope, requested);
    return requested.id;
  } catch (error) {
    const paymentId = paymentUnderWay(error);
    if (paymentId === null) throw error;
    return paymentId;
  }
}

function paymentUnderWay(error: unknown): string | null {
  const { context } = (refusalIn(error)?.details ?? {}) as { context?: { payment_id?: unknown } };
  return typeof context?.payment_id === 'string' ? context.payment_id : null;
}
