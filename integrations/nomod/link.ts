import { randomBytes } from 'node:crypto';
import { refuse } from '../../billing/refusal.ts';
import { GatewayOutcomeUnknown } from '../payment-gateway.ts';
import { type LinkRequest, type LinkState, neverOpened, type OpenedLink, type PaymentLinks } from '../payment-link.ts';
import { amountOfNomod, nomodAmount } from './amount.ts';
import type { NomodClient } from './client.ts';
import { chargeNameOf, complete, type NomodCharge, type NomodCheckout } from './shapes.ts';

const minuteMs = 60_000;
/** Time that a payer has to confirm at its bank; an attempt that is older was given up. */
const confirmationMs = 30 * minuteMs;
const longestDescription = 100;
const captured = new Set(['paid', 'completed', 'captured', 'partially_refunded', 'refunded', 'disputed']);
const declined = new Set(['failed', 'declined', 'cancelled', 'canceled', 'voided', 'expired']);

/**
 * Sessions of Nomod's Hosted Checkout, each with a page of its own. They have neither an idempotency key nor a look-up by our name, and
 * no call that ends them: a page is known by the address that was answered, and one whose answer was lost nobody can pay. So a repeated
 * token without an id is another page, and the first of them that is recorded is the one that is shown.
 * design: money-in-checkout §C nomod
 */
export function nomodLinks(client: NomodClient): PaymentLinks {
  const read = async ({ providerId }: { providerId: string | null }): Promise<LinkState> =>
    providerId === null ? neverOpened : stateOf(await checkoutOf(client, providerId));
  return {
    resend: 'never',
    minimumLifeMs: 0,
    closable: false,
    open: (request) => open(client, request),
    read,
    close: read,
  };
}

/** A checkout by its id. Throws `GatewayOutcomeUnknown`, also for one that the account does not have. */
export async function checkoutOf(client: NomodClient, id: string): Promise<NomodCheckout> {
  return complete(await client.get<NomodCheckout>(`/checkout/${encodeURIComponent(id)}`));
}

async function open(client: NomodClient, request: LinkRequest): Promise<OpenedLink> {
  if (request.mode === 'setup' || request.saveMethod) {
    const problem = 'nomod saves no payment methods: its pages take payments alone';
    throw refuse('invalid_operation', problem, { fields: { payment_provider: problem } });
  }
  if (request.payBy === 'UPI') {
    const rule = 'nomod takes no UPI';
    throw refuse('validation_error', `nothing can be paid by UPI: ${rule}`, { fields: { payment_method: rule } });
  }
  if (request.providerId !== null) return openedLink(await checkoutOf(client, request.providerId));
  const answer = await client.post<NomodCheckout>('/checkout', checkoutAsked(request));
  if (answer.refusal === null) return openedLink(complete(answer.object));
  throw refuse('validation_error', `nomod does not open a payment page for this: ${answer.refusal}`, {
    fields: { payment_provider: answer.refusal },
  });
}

/** One item of the whole amount, without a discount. Names of metadata are of letters and digits alone, as Nomod takes them. */
function checkoutAsked({ amount, currency, token, description, returnUrl, metadata }: LinkRequest) {
  const asked = nomodAmount(amount, currency);
  const { environment = '', kind = '', id = '' } = metadata;
  return {
    // Nomod does not say whether it takes a reference twice: each request has one of its own.
    reference_id: `${token}-${randomBytes(6).toString('hex')}`,
    amount: asked,
    currency: currency.toUpperCase(),
    items: [
      {
        item_id: token,
        name: (description || 'Payment').slice(0, longestDescription),
        quantity: 1,
        unit_amount: asked,
        total_amount: asked,
        net_amount: asked,
      },
    ],
    success_url: returnUrl,
    failure_url: returnUrl,
    cancelled_url: returnUrl,
    metadata: { environment, kind, id, token },
  };
}

function openedLink(checkout: NomodCheckout): OpenedLink {
  const { id, url } = checkout;
  if (isOver(checkout)) throw new GatewayOutcomeUnknown(`nomod's page ${id} has ended already`);
  return { providerId: id, url, expiresAt: null };
}

function stateOf(checkout: NomodCheckout): LinkState {
  const charges = (checkout.charges ?? []).toSorted((a, b) => timeOf(a, checkout) - timeOf(b, checkout));
  const taken = charges.filter(({ status }) => captured.has(status));
  return {
    status: statusOf(checkout, {
      isTaken: taken.length > 0,
      isUndecided: charges.some((each) => isUndecided(each, checkout)),
    }),
    providerId: checkout.id,
    url: checkout.url,
    expiresAt: null,
    captures: taken.map((charge) => ({
      chargeProviderId: chargeNameOf(checkout.id, charge.id),
      amount: amountOfNomod(charge.amount),
      currency: checkout.currency.toLowerCase(),
      capturedAt: new Date(timeOf(charge, checkout)).toISOString(),
    })),
    // Nomod does not say here why an attempt was declined, so another one may be made.
    declines: charges
      .filter(({ status }) => declined.has(status))
      .map(({ id, status }) => ({ chargeProviderId: chargeNameOf(checkout.id, id), code: status, class: 'retry' })),
    savedMethod: null,
  };
}

/** Charges say more than the checkout: one that has ended may have been paid, and a paid one may not show its charge yet. */
function statusOf(
  checkout: NomodCheckout,
  { isTaken, isUndecided }: { isTaken: boolean; isUndecided: boolean },
): LinkState['status'] {
  if (isTaken) return 'paid';
  if (isUndecided || checkout.status === 'paid') return 'processing';
  return isOver(checkout) ? 'dead' : 'open';
}

/** Words for a page that can be paid differ between Nomod's pages and its answers: every one that ends nothing is taken so. */
function isOver({ status }: NomodCheckout): boolean {
  return status === 'paid' || status === 'cancelled' || status === 'expired';
}

/** Reserved, or waiting for its payer's bank for less than half an hour. */
function isUndecided(charge: NomodCharge, checkout: NomodCheckout): boolean {
  if (captured.has(charge.status) || declined.has(charge.status)) return false;
  return charge.status === 'authorised' || Date.now() - timeOf(charge, checkout) < confirmationMs;
}

function timeOf({ payment_time }: NomodCharge, { created_at }: NomodCheckout): number {
  const at = Date.parse(payment_time ?? '');
  return Number.isNaN(at) ? Date.parse(created_at) : at;
}
