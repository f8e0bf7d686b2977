import { Context } from '@temporalio/activity';
import type { PaymentOutcome } from '../../billing/payment/payment.ts';
import type { RefundOutcome } from '../../billing/payment/refund.ts';
import { refuse } from '../../billing/refusal.ts';
import { openingCollection, openingStatus } from '../../billing/subscription/collection.ts';
import { missing } from '../../db/rows/record.ts';
import { workflowScope } from '../../db/scope.ts';
import { inSqlTransaction, type SqlTransaction } from '../../db/transaction.ts';
import type { PaymentGateway } from '../../integrations/payment-gateway.ts';
import type { PaymentCharge } from '../../services/collection/payment-charge.ts';
import { wireToken } from '../../services/collection/wire-token.ts';
import { recordPaymentOutcome } from '../../services/payment/payment-outcome.ts';
import {
  chargeOfOpening,
  closeOpeningCharge,
  dropOpeningCharge,
  keepOpeningCharge,
  keepPreparedOpening,
  OpeningToPay,
} from '../../services/subscription/create/opening-charge.ts';
import type { PaidOpening, RecordedOpening } from '../../services/subscription/create/paid-opening.ts';
import type { Caller } from '../../workflows/lifecycle.messages.ts';
import { crashPoint } from '../crash-points.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { type GatewayAccess, openGateway } from '../integration/connected-gateway.ts';
import { abandonAtGateway, askAgain, askFirst, type KeepPrepared, unknownOutcome } from '../payment/payment-gateway.ts';
import { askRefundAgain } from '../payment/refund-gateway.ts';

export type { PaidOpening } from '../../services/subscription/create/paid-opening.ts';

/** A charge that decides whether a subscription is made. */
export interface OpeningReference {
  tenantId: string;
  environmentId: string;
  chargeId: string;
}

/** Instead of a snapshot: this must be paid first. */
export interface OpeningAsked {
  openingCharge: string;
}

export type OpeningActivities = ReturnType<typeof createOpeningActivities>;

/** The payment that belongs to a creation or an activation. spec: subscriptions-and-invoicing §2.3.4 error_if_incomplete */
export function createOpeningActivities(access: GatewayAccess) {
  const { database } = access;
  const inScope = <T>(owner: OpeningReference, work: (tx: SqlTransaction) => Promise<T>) =>
    inSqlTransaction(database, workflowScope(owner), work);

  /** One conversation with the charge's gateway; whatever it throws means that nothing is known. */
  async function converse<Outcome>(
    charge: OpeningReference,
    ask: (gateway: PaymentGateway, request: PaymentCharge, keep: KeepPrepared) => Promise<Outcome>,
    absent: (reason: string, providerId: string | null) => Outcome,
  ): Promise<Outcome> {
    const request = await inScope(charge, (tx) => chargeOfOpening(tx, tx.scope, charge.chargeId));
    if (!request) throw missing('opening charge', charge.chargeId);
    const object = { kind: 'opening_charge', id: charge.chargeId, provider: request.gateway } as const;
    const { gateway, absent: reason } = await openGateway(access, charge, object);
    if (!gateway) return absent(reason, request.providerId);
    if (!gateway.refunds) return absent(`the gateway ${request.gateway} could not give the money back`, null);
    return withHeartbeat(async () => {
      crashPoint('askOpening.beforeEffect');
      const keep = (providerId: string) =>
        inScope(charge, (tx) => keepPreparedOpening(tx, tx.scope, charge.chargeId, providerId));
      const outcome = await ask(gateway, request, keep);
      crashPoint('askOpening.afterEffect');
      return outcome;
    });
  }

  return {
    /** Sends the charge; `again`, and every retry, asks about it before it sends the same token once more. One external call. */
    chargeOpening: ({ again, ...charge }: OpeningReference & { again: boolean }): Promise<PaymentOutcome> =>
      converse(charge, again || Context.current().info.attempt > 1 ? askAgain : askFirst, neverSent),

    /** Gives up a charge; the answer says what is true afterwards. */
    cancelOpening: (charge: OpeningReference): Promise<PaymentOutcome> => converse(charge, abandonAtGateway, neverSent),

    /** Gives back what was captured for nothing. */
    refundOpening: (charge: OpeningReference): Promise<RefundOutcome> =>
      converse(
        charge,
        async (gateway, request) => askRefundAgain(gateway, refundOf(request, await takenBy(gateway, request))),
        (reason) => ({ status: 'unknown', gatewayRefundId: null, reason }),
      ),

    /** Forgets a charge of which nothing was captured and says why nothing was made. Throws `invalid_operation`. */
    refuseOpening: async ({ reason, ...charge }: OpeningReference & { reason: string }): Promise<never> => {
      await inScope(charge, async (tx) => {
        await dropOpeningCharge(tx, tx.scope, charge.chargeId);
        crashPoint('refuseOpening.beforeCommit');
      });
      const collection = openingCollection('charge_automatically', 'error_if_incomplete', '1');
      openingStatus(collection, false, reason);
      throw new Error(`the opening charge ${charge.chargeId} was refused and went on`);
    },

    closeOpening: ({
      status,
      ...charge
    }: OpeningReference & { status: 'returned' | 'kept' | 'dropped' }): Promise<void> =>
      inScope(charge, (tx) =>
        status === 'dropped'
          ? dropOpeningCharge(tx, tx.scope, charge.chargeId)
          : closeOpeningCharge(tx, tx.scope, { chargeId: charge.chargeId, status }),
      ),
  };
}

/**
 * The gateway's id of the payment that took the money of a charge, which may be another object than was prepared; null where nothing was
 * prepared, and where the gateway does not say now.
 */
async function takenBy({ charges }: PaymentGateway, request: PaymentCharge): Promise<string | null> {
  if (request.providerId === null || !charges) return null;
  const known = await charges.lookUp(request).catch(() => null);
  return known && 'gatewayPaymentId' in known ? known.gatewayPaymentId : null;
}

/** All of a charge goes back; a try of it is never the first, for nobody wrote down whether it was made. */
function refundOf(request: PaymentCharge, chargeProviderId: string | null) {
  const refundToken = `${request.intentToken}:back`;
  const names = { refundToken, token: wireToken(refundToken), providerId: null, chargeProviderId };
  return { ...request, ...names, metadata: {}, isFirst: false };
}

/**
 * Without a gateway nothing can be captured by a charge that was not prepared, which is as definite as a decline. One that was prepared may
 * be captured already, though its connection cannot be opened now: nothing is known of it.
 */
export function neverSent(reason: string, providerId: string | null): PaymentOutcome {
  const unknown = unknownOutcome(reason);
  return providerId === null ? { ...unknown, status: 'declined' } : unknown;
}

/** The charge that was made before, with the step that records its outcome. */
export const recordedOpening = (paid: PaidOpening | null): RecordedOpening | null =>
  paid && { ...paid, record: recordPaymentOutcome };

/** True of a gateway that accepts charges first and decides them later. */
export type DecidesLater = (gateway: string) => boolean;

/**
 * Does `work`, one transaction. When it has to be paid before, what it wrote is gone and what is to be charged is kept, so that
 * the charge outlives every crash; its id is the answer. Throws `invalid_operation` where the gateway decides later, because nobody waits
 * days for an answer: nothing is charged then. design: money-in-checkout §B11
 */
export async function orOpeningCharge<Owner extends object, Result>(
  inScope: <T>(owner: Owner, work: (tx: SqlTransaction) => Promise<T>, caller?: Caller) => Promise<T>,
  owner: Owner,
  caller: Caller,
  work: (tx: SqlTransaction) => Promise<Result>,
  decidesLater: DecidesLater,
): Promise<Result | OpeningAsked> {
  try {
    return await inScope(owner, work, caller);
  } catch (error) {
    if (!(error instanceof OpeningToPay)) throw error;
    refuseLate(error.charge.paymentGateway, decidesLater);
    const openingCharge = await inScope(owner, (tx) => keepOpeningCharge(tx, tx.scope, error.charge), caller);
    return { openingCharge };
  }
}

function refuseLate(gateway: string, decidesLater: DecidesLater): void {
  if (!decidesLater(gateway)) return;
  throw refuse(
    'invalid_operation',
    `payment_behavior error_if_incomplete needs a charge that is decided at once, and ${gateway} decides later; use allow_incomplete, or name a payment method of another provider in gateway_payment_method_id`,
    { fields: { payment_behavior: `${gateway} decides charges later` }, rolled_back: true },
  );
}
