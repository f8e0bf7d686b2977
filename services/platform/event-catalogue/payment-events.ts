import { z } from 'zod';
import { decimal, type EventOf, eventFamily, instant, metadata } from './event-family.ts';

const payment = z
  .strictObject({
    id: z.string(),
    amount: decimal(),
    currency: z.string(),
    destination_id: z.string(),
    destination_type: z.string(),
    invoice_number: z.string().nullable(),
    payment_gateway: z.string().nullable(),
    payment_method_type: z.string(),
    payment_status: z.string(),
    error_message: z.string().nullable(),
    succeeded_at: instant().nullable(),
    failed_at: instant().nullable(),
    refunded_at: instant().nullable(),
    voided_at: instant().nullable(),
  })
  .meta({ id: 'OutboundPayment' });

export const paymentEvents = eventFamily({
  entityType: 'payment',
  payload: z.strictObject({ payment }),
  events: {
    'payment.created': 'A payment was created.',
    'payment.updated': 'A payment was changed, refunded, disputed or voided, or waits for its payer.',
    'payment.pending': 'A payment was sent to its provider or waits for its answer.',
    'payment.failed': 'A payment failed.',
    'payment.success': 'A payment succeeded.',
  },
});

export type PaymentEvent = EventOf<typeof paymentEvents>;

const refund = z
  .strictObject({
    id: z.string(),
    payment_id: z.string().nullable(),
    credit_note_id: z.string().nullable(),
    invoice_id: z.string().nullable(),
    customer_id: z.string(),
    amount: decimal(),
    currency: z.string(),
    refund_status: z.enum(['PENDING', 'PROCESSING', 'SUCCEEDED', 'FAILED', 'CANCELLED']),
    refund_reason: z.string(),
    payment_gateway: z.string().nullable(),
    gateway_refund_id: z.string().nullable(),
    failure_reason: z.string().nullable(),
    initiated_at: instant().nullable(),
    succeeded_at: instant().nullable(),
    failed_at: instant().nullable(),
    cancelled_at: instant().nullable(),
    metadata: metadata(),
  })
  .meta({ id: 'OutboundRefund' });

export const refundEvents = eventFamily({
  entityType: 'refund',
  payload: z.strictObject({ refund }),
  events: {
    'refund.created': 'A refund was created.',
    'refund.succeeded': 'The money of a refund was given back.',
    'refund.failed': 'A refund failed.',
  },
});

export type RefundEvent = EventOf<typeof refundEvents>;

const checkoutSession = z
  .strictObject({
    id: z.string(),
    customer_id: z.string(),
    action: z.string(),
    checkout_status: z.enum(['initiated', 'pending', 'completed', 'failed', 'expired']),
    payment_provider: z.string(),
    checkout_invoice_id: z.string().nullable(),
    checkout_payment_id: z.string().nullable(),
    failure_reason: z.string().nullable(),
    expires_at: instant(),
    completed_at: instant().nullable(),
    cancelled_at: instant().nullable(),
    payment_action: z.strictObject({ type: z.literal('checkout_url'), url: z.string() }).nullable(),
  })
  .meta({ id: 'OutboundCheckoutSession' });

export const checkoutEvents = eventFamily({
  entityType: 'checkout_session',
  payload: z.strictObject({ checkout_session: checkoutSession }),
  events: {
    'checkout.session.initiated': 'A checkout session has its payment page, whose address the event carries.',
    'checkout.session.completed': 'A checkout session was paid and its order carried out.',
    'checkout.session.failed':
      'A checkout session ended without its order: its provider refused or ended it, another amount was paid, or the order became impossible.',
    'checkout.session.expired': 'A checkout session expired, was cancelled, or was made pointless by another.',
  },
});

export type CheckoutEvent = EventOf<typeof checkoutEvents>;
