import { z } from 'zod';
import { refuse } from '../../billing/refusal.ts';
import type { PaymentMethod } from '../../db/entities/payment/payment-method.ts';
import { badField } from '../../db/rows/record.ts';
import type { CheckoutInput } from '../payment/checkout.schema.ts';
import { returnUrl } from '../payment/checkout.schema.ts';
import { savedMethod, viewSavedMethod } from '../payment/saved-method.schema.ts';
import { decimalOutput, timestampOutput } from '../scalars.schema.ts';
import { topupBody, updateWalletBody } from './wallet-input.schema.ts';

const provider = z.string().min(1).max(50);

/** Page of a provider as a customer has it opened; alias and former name of one member as the spec has them. */
const portalCheckoutShape = {
  payment_provider: provider,
  customer_not_present: z.boolean().nullish().describe('True charges the saved method at once, without a page.'),
  use_saved_method: z.boolean().nullish().describe('Alias of `customer_not_present`.'),
  customer_present: z
    .never({ error: 'is called customer_not_present now, and means the opposite' })
    .optional()
    .describe('Not accepted: send `customer_not_present`.'),
  success_url: returnUrl.nullish(),
  failure_url: returnUrl.nullish(),
  cancel_url: returnUrl.nullish(),
};

const key = z.string().min(1).max(255);

/** Members of a page as they may also stand beside the amount that is bought. spec: platform §11 */
const besideShape = { ...portalCheckoutShape, payment_provider: provider.nullish() };
type PageBeside = z.output<z.ZodObject<typeof besideShape>>;

/**
 * Body of a purchase in the portal: so many credits, or for so much money, with its page in `checkout` or beside them.
 * spec: wallets-and-payments §1.8; platform §11; README decision 37
 */
export const portalTopupBody = z
  .object({
    credits_to_add: topupBody.shape.credits_to_add,
    amount: topupBody.shape.amount,
    idempotency_key: key.nullish(),
    description: z.string().max(10_000).nullish(),
    checkout: z.object(portalCheckoutShape).nullish(),
    ...besideShape,
  })
  .meta({
    examples: [
      { credits_to_add: '50', checkout: { payment_provider: 'sandbox', success_url: 'https://shop.example/thanks' } },
      { amount: '50', success_url: 'https://shop.example/thanks' },
    ],
  });

/**
 * Body of a purchase taken apart into the page that it asks for, null for a purchase that waits for its invoice to be paid, and the rest.
 * Throws `validation_error` where a page is asked for in both places.
 */
export function takenApart(body: z.output<typeof portalTopupBody>) {
  const { checkout, idempotency_key: key = null, credits_to_add, amount, description, ...page } = body;
  const beside = Object.entries(page).filter(([, value]) => value != null);
  const [twice] = checkout ? beside : [];
  if (twice) throw badField(twice[0], 'must stand inside checkout, because checkout was sent');
  return { page: beside.length > 0 ? page : (checkout ?? null), key, bought: { credits_to_add, amount, description } };
}

/** spec: wallets-and-payments §1.8 POST /invoices/{id}/pay */
export const portalPayBody = z
  .object({ ...portalCheckoutShape, idempotency_key: key.nullish() })
  .meta({ examples: [{ payment_provider: 'sandbox', success_url: 'https://shop.example/thanks' }] });

type PortalCheckout = PageBeside & { payment_provider: string };

/** Whether the saved method is to be charged, without a page. Throws `validation_error` where both names say different things. */
export function isWithoutCustomer({ customer_not_present: flag, use_saved_method: alias }: PageBeside): boolean {
  if (flag != null && alias != null && flag !== alias) {
    throw refuse('validation_error', 'use_saved_method must be as customer_not_present, or absent', {
      fields: { use_saved_method: 'must be as customer_not_present, or absent' },
    });
  }
  return flag ?? alias ?? false;
}

/** The page that a customer asked for, as sessions are opened. */
export function portalCheckoutOf(body: PortalCheckout, idempotencyKey: string | null): CheckoutInput {
  const { payment_provider, success_url, failure_url, cancel_url } = body;
  return { payment_provider, success_url, failure_url, cancel_url, idempotency_key: idempotencyKey };
}

const terms = updateWalletBody.shape.auto_topup.unwrap().unwrap().shape;

/** spec: wallets-and-payments §1.8 PUT /wallets/{id}/auto-topup */
export const portalAutoTopupBody = z
  .object({
    enabled: z.boolean(),
    threshold: terms.threshold,
    amount: terms.amount,
    cooldown: terms.cooldown,
  })
  .meta({ examples: [{ enabled: true, threshold: '10', amount: '50' }] });

const action = z.object({ type: z.literal('checkout_url'), url: z.string() });

/** Payment of an invoice by its customer. spec: wallets-and-payments §1.8 */
export const portalPayment = z
  .object({
    payment_id: z.string(),
    invoice_id: z.string(),
    status: z.string(),
    amount: decimalOutput(),
    currency: z.string(),
    payment_action: action.nullable().describe('Address of the payment page; null once nothing is left to do there.'),
  })
  .meta({ id: 'PortalPaymentResponse' });

/** spec: wallets-and-payments §1.8 POST /payment-methods */
export const portalSetupBody = z
  .object({
    payment_provider: provider,
    success_url: returnUrl.nullish(),
    failure_url: returnUrl.nullish(),
    cancel_url: returnUrl.nullish(),
  })
  .meta({ examples: [{ payment_provider: 'sandbox', success_url: 'https://shop.example/cards' }] });

export const portalSetup = z
  .object({
    provider: z.string(),
    action: z.object({ type: z.literal('redirect'), url: z.string(), expires_at: timestampOutput() }),
  })
  .meta({ id: 'PortalSetupResponse' });

/** spec: wallets-and-payments §1.8 POST /payment-methods/delete and /default */
export const portalMethodBody = z
  .object({ payment_provider: provider, payment_method_id: key })
  .meta({ examples: [{ payment_provider: 'sandbox', payment_method_id: 'pm_01JCXYZ' }] });

/** spec: wallets-and-payments §1.8 GET /payment-methods */
export const portalMethods = z
  .object({
    providers: z.array(z.object({ provider: z.string(), items: z.array(savedMethod), error: z.string().nullable() })),
  })
  .meta({ id: 'PortalPaymentMethodsResponse' });

/** Methods of a customer by provider, the newest first; detached ones are left out. */
export function viewPortalMethods(methods: readonly PaymentMethod[]): z.output<typeof portalMethods> {
  const providers = [...Map.groupBy(methods, ({ gateway }) => gateway)];
  return {
    providers: providers.map(([name, rows]) => ({ provider: name, items: rows.map(viewSavedMethod), error: null })),
  };
}

const capability = z.object({ type: z.string(), is_default: z.boolean() });

/** spec: wallets-and-payments §1.8 GET /integrations */
export const portalIntegrations = z
  .object({
    payment_integrations: z.array(z.object({ provider: z.string(), capabilities: z.array(capability) })),
  })
  .meta({ id: 'PortalIntegrationsResponse' });
