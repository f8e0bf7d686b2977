import { z } from 'zod';
import { checkoutActions, checkoutPoll, checkoutStatuses, isCheckoutActive } from '../../billing/payment/checkout.ts';
import type { CheckoutSession } from '../../db/entities/payment/checkout-session.ts';
import type { CheckoutFilters } from '../../services/payment/checkout/checkout-read.ts';
import { listOf, listQuery } from '../list.ts';
import {
  currencyInput,
  decimalInput,
  decimalOutput,
  idListQuery,
  metadataInput,
  metadataOutput,
  recordOutput,
  timestampInput,
  timestampOutput,
  viewRecord,
} from '../scalars.schema.ts';

const id = z.string().min(1).max(255);

/** An address the payer is sent back to: https, or http of the caller's own machine. spec: wallets-and-payments §1.4 */
export const returnUrl = z
  .string()
  .max(2_048)
  .refine(isReturnUrl, { message: 'must be an absolute https address, or http on localhost' });

function isReturnUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username } = new URL(text);
  if (username !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname));
}

const providerConfig = z.object({
  collection_method: z.enum(['charge_automatically', 'send_invoice']).nullish(),
  payment_method: z.enum(['CARD', 'UPI']).nullish(),
  max_mandate_limit: decimalInput({ above: '0' }).nullish(),
});

const checkoutShape = {
  payment_provider: id,
  payment_provider_config: providerConfig.nullish(),
  success_url: returnUrl.nullish(),
  failure_url: returnUrl.nullish(),
  cancel_url: returnUrl.nullish(),
  idempotency_key: z.string().min(1).max(255).nullish(),
  metadata: metadataInput().nullish(),
};

/** `checkout` of the operations that can be paid first. spec: wallets-and-payments §1.4 */
export const checkoutInput = z.object(checkoutShape).meta({
  examples: [{ payment_provider: 'sandbox', success_url: 'https://shop.example/thanks' }],
});

export type CheckoutInput = z.output<typeof checkoutInput>;

/** A member of the published shape that belongs to another operation; the route refuses it by name. */
const elsewhere = z.unknown().optional();

/** Members of a subscription that a session does not take by itself: POST /subscriptions with `checkout` does. */
export const orderedWithSubscription = [
  'addons',
  'coupons',
  'override_line_items',
  'quantity',
  'trial_period_days',
  'trial_start',
  'trial_end',
] as const;

const billingPeriods = ['DAILY', 'WEEKLY', 'MONTHLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL'] as const;
const subscriptionParams = z.object({
  plan_id: id,
  currency: currencyInput(),
  billing_period: z.enum(billingPeriods, { error: `must be one of ${billingPeriods.join(', ')}` }),
  start_date: timestampInput().nullish(),
  end_date: timestampInput().nullish(),
  lookup_key: z.string().max(255).nullish(),
  metadata: metadataInput().nullish(),
  subscription_id: elsewhere,
  addons: elsewhere,
  coupons: elsewhere,
  override_line_items: elsewhere,
  quantity: elsewhere,
  trial_period_days: elsewhere,
  trial_start: elsewhere,
  trial_end: elsewhere,
});

export const createCheckoutBody = z
  .object({
    ...checkoutShape,
    customer_external_id: id,
    action: z.enum(checkoutActions),
    configuration: z
      .object({
        create_subscription_params: subscriptionParams.nullish(),
        add_addon_params: elsewhere,
        modify_subscription_params: elsewhere,
        wallet_topup_params: elsewhere,
      })
      .nullish(),
  })
  .meta({
    examples: [
      {
        customer_external_id: 'acme',
        action: 'create_subscription',
        payment_provider: 'sandbox',
        configuration: {
          create_subscription_params: { plan_id: 'plan_01JCXYZ', currency: 'usd', billing_period: 'MONTHLY' },
        },
        success_url: 'https://shop.example/thanks',
      },
    ],
  });

export type CreateCheckoutBody = z.output<typeof createCheckoutBody>;

export const checkoutListQuery = listQuery({
  customer_id: id.optional(),
  checkout_status: idListQuery().optional(),
  action: idListQuery().optional(),
  payment_provider: id.optional(),
  invoice_id: id.optional(),
  subscription_id: id.optional(),
  wallet_id: id.optional(),
});

export function checkoutFiltersOf(query: z.output<typeof checkoutListQuery>): CheckoutFilters {
  return {
    customerId: query.customer_id,
    statuses: query.checkout_status,
    actions: query.action,
    paymentProvider: query.payment_provider,
    invoiceId: query.invoice_id,
    subscriptionId: query.subscription_id,
    walletId: query.wallet_id,
  };
}

const answeredActions = [...checkoutActions, 'save_method'] as const;
const paymentAction = z.object({ type: z.literal('checkout_url'), url: z.string() }).nullable();
const block = z.record(z.string(), z.unknown());

export const checkoutSession = z
  .object({
    ...recordOutput,
    idempotency_key: z.string(),
    customer_id: z.string(),
    action: z.enum(answeredActions),
    checkout_status: z.enum(checkoutStatuses),
    configuration: block,
    payment_action: paymentAction,
    payment_provider: z.string(),
    payment_provider_config: z.object({
      collection_method: z.string(),
      payment_method: z.string(),
      max_mandate_limit: decimalOutput().nullable(),
    }),
    provider_result: z
      .object({
        expires_at: timestampOutput().nullable(),
        next_action: paymentAction,
        provider_session_id: z.string().nullable(),
        provider_payment_intent_id: z.string().nullable(),
        provider_metadata: metadataOutput(),
        link_state: z.enum(['none', 'open', 'dead']).describe('Own: `open` while the link may be payable.'),
      })
      .nullable(),
    result: block.nullable(),
    amount: decimalOutput().describe('Own: what is asked for.'),
    currency: z.string(),
    checkout_invoice_id: z.string().nullable(),
    checkout_payment_id: z.string().nullable(),
    success_url: z.string().nullable(),
    cancel_url: z.string().nullable(),
    failure_url: z.string().nullable(),
    failure_reason: z.string().nullable().describe('Code of why it ended unpaid.'),
    failure_message: z.string().nullable().describe('Own: the same for people.'),
    completed_at: timestampOutput().nullable(),
    cancelled_at: timestampOutput().nullable(),
    expires_at: timestampOutput(),
    metadata: metadataOutput(),
  })
  .meta({ id: 'CheckoutSessionResponse' });

export const checkoutRead = checkoutSession
  .extend({
    terminal: z.boolean(),
    next_poll_after_ms: z.int(),
    stale: z.boolean().describe('The provider did not confirm this state.'),
    payment: z.object({ id: z.string(), status: z.string(), gateway: z.string().nullable() }).nullable(),
  })
  .meta({ id: 'CheckoutSessionReadResponse' });

export const checkoutList = listOf(checkoutSession, 'ListCheckoutSessionsResponse');

/** A session as it is answered; `url` is the address of its page. */
export function viewCheckout(row: CheckoutSession, url: string | null): z.output<typeof checkoutSession> {
  const action = isCheckoutActive(row.checkoutStatus) && url !== null ? ({ type: 'checkout_url', url } as const) : null;
  const shown = row.linkState === 'none' ? null : action;
  const config = row.providerConfig;
  return {
    ...viewRecord(row),
    idempotency_key: row.idempotencyKey,
    customer_id: row.customerId,
    action: row.action as z.output<typeof checkoutSession>['action'],
    checkout_status: row.checkoutStatus as z.output<typeof checkoutSession>['checkout_status'],
    configuration: row.configuration,
    payment_action: shown,
    payment_provider: row.paymentProvider,
    payment_provider_config: {
      collection_method: config.collection_method ?? 'send_invoice',
      payment_method: config.payment_method ?? 'CARD',
      max_mandate_limit: config.max_mandate_limit ?? null,
    },
    provider_result:
      row.providerSessionId === null || row.providerSessionId === undefined
        ? null
        : {
            expires_at: row.providerExpiresAt ?? null,
            next_action: shown,
            provider_session_id: row.providerSessionId,
            provider_payment_intent_id: null,
            provider_metadata: {},
            link_state: row.linkState as 'open',
          },
    result: row.result ?? null,
    amount: row.amount,
    currency: row.currency,
    checkout_invoice_id: row.checkoutInvoiceId ?? null,
    checkout_payment_id: row.checkoutPaymentId ?? null,
    success_url: row.successUrl ?? null,
    cancel_url: row.cancelUrl ?? null,
    failure_url: row.failureUrl ?? null,
    failure_reason: row.failureReason ?? null,
    failure_message: row.failureMessage ?? null,
    completed_at: row.completedAt ?? null,
    cancelled_at: row.cancelledAt ?? null,
    expires_at: row.expiresAt,
    metadata: row.metadata,
  };
}

/** A session as it is read: with what a poller needs. `isConfirmed` says that its provider was asked and answered. */
export function viewCheckoutRead(
  row: CheckoutSession,
  read: {
    url: string | null;
    now: string;
    isConfirmed: boolean;
    payment: { id: string; status: string; gateway: string | null } | null;
  },
): z.output<typeof checkoutRead> {
  const { terminal, nextPollAfterMs } = checkoutPoll(row.checkoutStatus, row.openedAt, read.now);
  return {
    ...viewCheckout(row, read.url),
    terminal,
    next_poll_after_ms: nextPollAfterMs,
    stale: !terminal && !read.isConfirmed,
    payment: read.payment,
  };
}
