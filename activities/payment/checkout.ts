import { setTimeout as delay } from 'node:timers/promises';
import { isAskedLately, isCheckoutActive } from '../../billing/payment/checkout.ts';
import type { LinkOccasion } from '../../billing/payment/checkout-link.ts';
import { refusalIn, refuse } from '../../billing/refusal.ts';
import { instantText } from '../../db/rows/columns.ts';
import { workflowScope } from '../../db/scope.ts';
import { inReadTransaction, inSqlTransaction, type SqlTransaction } from '../../db/transaction.ts';
import { GatewayOutcomeUnknown } from '../../integrations/payment-gateway.ts';
import type { LinkState, PaymentLinks } from '../../integrations/payment-link.ts';
import { type CheckoutState, loadCheckoutState, writeCheckoutAgenda } from '../../services/collection/checkout-row.ts';
import { parkObject, unparkObject } from '../../services/lifecycle/parked-object.ts';
import type { CheckoutFollowers } from '../../services/payment/checkout/checkout-followers.ts';
import {
  type AskedLink,
  linkRequestOf,
  noteUnopened,
  recordOpened,
  recordRefused,
} from '../../services/payment/checkout/checkout-open.ts';
import { savedChargeOf } from '../../services/payment/checkout/checkout-saved-method.ts';
import { endWatch, type LinkAnswer, recordLink } from '../../services/payment/checkout/checkout-settle.ts';
import type { CheckoutSnapshot } from '../../workflows/payment/checkout-session.messages.ts';
import { crashPoint } from '../crash-points.ts';
import { type GatewayAccess, openGateway } from '../integration/connected-gateway.ts';
import type { CheckoutMoment, CheckoutReference, InScope } from './checkout-input.ts';
import { askSavedCharge, noteFailed } from './saved-charge.ts';

export type CheckoutActivities = ReturnType<typeof createCheckoutActivities>;

/** A caller who cancels waits so long for the provider. design: money-in-checkout §A6 */
const cancelPatienceMs = 5_000;
/** Everybody else waits so long, within what a step may take. */
const patienceMs = 20_000;
/** Tries of an unreachable provider while a session is opened. spec: wallets-and-payments §2.22 */
const openingTries = 3;
const openingPauseMs = 250;

/** What checkout sessions do. spec: wallets-and-payments §2.17 */
export function createCheckoutActivities(access: GatewayAccess) {
  const inScope: InScope = (session, work) =>
    inSqlTransaction(access.database, { ...workflowScope(session), ...session.caller }, work);
  const read = (session: CheckoutReference) => inScope(session, (tx) => snapshotOf(tx, session.sessionId));
  /** Pages of the provider of a link, through the connection its payment is bound to. */
  const linksOf = async (owner: CheckoutReference, { object }: AskedLink) => {
    const { gateway } = await openGateway(access, owner, object);
    return gateway?.links;
  };

  return {
    loadCheckout: async (input: CheckoutMoment): Promise<CheckoutSnapshot | null> =>
      inScope(input, async (tx) => {
        const state = await loadCheckoutState(tx, input.sessionId);
        return state && viewState(state);
      }),

    /**
     * Opens the link at the provider and records it. A definite refusal ends the session and is thrown; a provider that cannot be reached
     * ends it too while its caller waits, with 503, and is tried again when nobody does.
     */
    async openLink(input: CheckoutMoment): Promise<CheckoutSnapshot> {
      const { sessionId, at } = input;
      const { charged, request } = await linkToAsk(access, inScope, { ...input, occasion: 'poll' }, 'open');
      if (charged) return withFollowers(await read(input), charged);
      if (request === null) return read(input);
      const opened = await openAt(await linksOf(input, request), request.link, request.object.provider);
      crashPoint('openLink.afterEffect');
      if (opened.status === 'opened') {
        const snapshot = await inScope(input, async (tx) => {
          await recordOpened(tx, { sessionId, link: opened.link, at });
          return snapshotOf(tx, sessionId);
        });
        crashPoint('openLink.beforeAnswer');
        return snapshot;
      }
      const isAwaited = input.caller !== undefined;
      if (opened.status === 'refused' || isAwaited) {
        await inScope(input, (tx) => recordRefused(tx, { sessionId, isDefinite: opened.status === 'refused', at }));
        if (isAwaited) throw opened.refusal;
        return read(input);
      }
      await inScope(input, (tx) => noteUnopened(tx, { sessionId, at }));
      return read(input);
    },

    /**
     * Asks the provider how the link stands, closing it first where the session is to end, and records what follows. Readers have a
     * provider behind a network asked every two seconds at most.
     */
    async askLink(input: CheckoutMoment & { occasion: LinkOccasion }): Promise<CheckoutSnapshot> {
      const { sessionId, occasion, at } = input;
      const isRead = occasion === 'poll' && input.caller !== undefined;
      if (isRead && (await inScope(input, (tx) => wasAskedLately(tx, sessionId, at)))) {
        return { ...(await read(input)), isAnswered: false };
      }
      const { charged, request } = await linkToAsk(access, inScope, input, occasion === 'poll' ? 'read' : 'close');
      if (charged) return withFollowers(await read(input), charged);
      if (request === null) return read(input);
      const link = await askAt(await linksOf(input, request), request.link, occasion);
      crashPoint('askLink.afterEffect');
      const answer = { sessionId, occasion, link, at };
      return inScope(input, (tx) => recordedLink(tx, answer).finally(() => crashPoint('askLink.beforeCommit'))).catch(
        async (error: unknown) => {
          const followers = await noteFailed(inScope, input, answer, error);
          return withFollowers(await read(input), followers);
        },
      );
    },

    /** The last question about a link was asked: it is not watched any more. */
    endWatch: (input: CheckoutMoment): Promise<CheckoutSnapshot> =>
      inScope(input, async (tx) => {
        await endWatch(tx, input.sessionId, input.at);
        return snapshotOf(tx, input.sessionId);
      }),

    parkCheckout: (input: CheckoutMoment & { step: string; reason: string }): Promise<CheckoutSnapshot> =>
      inScope(input, async (tx) => {
        const { step, reason, sessionId } = input;
        await parkObject(tx, tx.scope, { objectType: 'checkout_session', objectId: sessionId, step, reason });
        return snapshotOf(tx, sessionId);
      }),

    unparkCheckout: (input: CheckoutMoment): Promise<CheckoutSnapshot> =>
      inScope(input, async (tx) => {
        await unparkObject(tx, tx.scope, { objectType: 'checkout_session', objectId: input.sessionId });
        const state = await loadCheckoutState(tx, input.sessionId);
        if (state) await writeCheckoutAgenda(tx, state.row, input.at);
        return snapshotOf(tx, input.sessionId);
      }),
  };
}

/**
 * The link that is to be opened or asked about, after a charge of the session's saved method was asked about first; what that charge
 * made of the session (`charged`) is the answer where no link is needed. `request` is null where there is nothing to ask.
 */
async function linkToAsk(
  access: GatewayAccess,
  inScope: InScope,
  input: CheckoutMoment & { occasion: LinkOccasion },
  purpose: 'open' | 'read' | 'close',
): Promise<{ charged: CheckoutFollowers | null; request: AskedLink | null }> {
  const { sessionId } = input;
  const requestOf = (tx: SqlTransaction) => linkRequestOf(tx, sessionId, purpose);
  const [saved, request] = await inReadTransaction(access.database, workflowScope(input), (tx) =>
    Promise.all([savedChargeOf(tx, sessionId), requestOf(tx)]),
  );
  if (saved === null) return { charged: null, request };
  const { opensPage, followers } = await askSavedCharge(access, inScope, input, saved);
  if (!opensPage) return { charged: followers, request: null };
  return { charged: null, request: await inScope(input, requestOf) };
}

/** Records what a provider says of a link; gives the session as it stands then, with those who are to be told. */
async function recordedLink(tx: SqlTransaction, answer: LinkAnswer): Promise<CheckoutSnapshot> {
  const followers = await recordLink(tx, answer);
  return withFollowers(await snapshotOf(tx, answer.sessionId), followers);
}

type Opened =
  | { status: 'opened'; link: Awaited<ReturnType<PaymentLinks['open']>> }
  | { status: 'refused' | 'unreachable'; refusal: Error };

async function openAt(
  links: PaymentLinks | undefined,
  request: Parameters<PaymentLinks['open']>[0],
  provider: string,
): Promise<Opened> {
  if (!links) {
    const message = `payment_provider ${provider} opens no payment pages here`;
    return { status: 'refused', refusal: refuse('invalid_operation', message) };
  }
  for (let tried = 1; ; tried += 1) {
    try {
      return { status: 'opened', link: await links.open(request) };
    } catch (error) {
      const refusal = refusalIn(error);
      if (refusal) return { status: 'refused', refusal: refuse(refusal.code, refusal.message, refusal.details) };
      // Anything else is a fault on this side, after which the step is tried again.
      if (!(error instanceof GatewayOutcomeUnknown)) throw error;
      if (tried === openingTries) {
        const message = `payment_provider ${provider} could not be reached; nothing was opened, so try again`;
        return { status: 'unreachable', refusal: refuse('service_unavailable', message) };
      }
      await delay(openingPauseMs * tried);
    }
  }
}

/** How a link stands; null where its provider does not say so in time. */
async function askAt(
  links: PaymentLinks | undefined,
  reference: Parameters<PaymentLinks['read']>[0],
  occasion: LinkOccasion,
): Promise<LinkState | null> {
  if (!links) return null;
  const late = new AbortController();
  const patience = occasion === 'cancel' ? cancelPatienceMs : patienceMs;
  const silence = delay(patience, null, { signal: late.signal }).catch(() => null);
  const asked = occasion === 'poll' ? links.read(reference) : links.close(reference);
  return Promise.race([asked.catch(withoutAnswer), silence]).finally(() => late.abort());
}

function withoutAnswer(error: unknown): null {
  if (error instanceof GatewayOutcomeUnknown || refusalIn(error)) return null;
  throw error;
}

async function wasAskedLately(tx: SqlTransaction, sessionId: string, at: string): Promise<boolean> {
  const state = await loadCheckoutState(tx, sessionId);
  if (!state || isLocal(state.row)) return false;
  return isAskedLately(state.row.asked_at && instantText(state.row.asked_at), at);
}

function isLocal(row: CheckoutState['row']): boolean {
  return row.payment_provider === 'sandbox';
}

async function snapshotOf(tx: SqlTransaction, sessionId: string): Promise<CheckoutSnapshot> {
  const state = await loadCheckoutState(tx, sessionId);
  if (!state) throw new Error(`checkout session ${sessionId} is gone`);
  return viewState(state);
}

function withFollowers(snapshot: CheckoutSnapshot, followers: CheckoutFollowers | null): CheckoutSnapshot {
  if (followers === null) return snapshot;
  const { refundIds, subscriptionId, invoiceId } = followers;
  return { ...snapshot, refundIds, subscriptionId, ...(invoiceId === null ? {} : { invoiceId }) };
}

function viewState({ row, agenda, blockedOn, blockedReason }: CheckoutState): CheckoutSnapshot {
  const isActive = isCheckoutActive(row.checkout_status);
  return {
    version: row.version,
    status: row.checkout_status,
    agenda,
    ended: !isActive && agenda.length === 0,
    details: `${row.action} · ${waitText(row, isActive)}`,
    spreadMs: 0,
    blockedOn,
    blockedReason,
    checkoutStatus: row.checkout_status,
    linkState: row.link_state,
    isLocal: isLocal(row),
    isAnswered: row.asked_at === null || row.asked_at === row.answered_at,
  };
}

/** What a session waits for, and since when something is wrong with it. */
function waitText(row: CheckoutState['row'], isActive: boolean): string {
  if (!isActive && row.link_state === 'open')
    return `${row.checkout_status}, its link may still be payable and is watched`;
  if (!isActive) return row.failure_reason ? `${row.checkout_status}: ${row.failure_reason}` : row.checkout_status;
  if (row.completion_failed_at !== null)
    return `paid, but not carried out since ${instantText(row.completion_failed_at)}; tried again until a day has passed`;
  if (row.link_state === 'none') {
    const isCharged = row.checkout_status === 'pending';
    const deed = isCharged ? 'say what became of the charge of the saved method' : 'open the payment page';
    return `waits for ${row.payment_provider} to ${deed}`;
  }
  const silence = row.asked_at !== null && row.asked_at !== row.answered_at ? ', which did not answer last' : '';
  return `waits for its payer at ${row.payment_provider}${silence}, until ${instantText(row.expires_at)}`;
}
