import { Context } from '@temporalio/activity';
import { askedDailyUntil, type PaymentOutcome } from '../../billing/payment/payment.ts';
import { coalesce } from '../../db/coalesce.ts';
import { workflowScope } from '../../db/scope.ts';
import { inSqlTransaction, type SqlTransaction } from '../../db/transaction.ts';
import type { ChargeRequest, PaymentGateway } from '../../integrations/payment-gateway.ts';
import { refreshIncomplete } from '../../services/charging/subscription-snapshot.ts';
import { chargeOfPayment, keepPreparedCharge } from '../../services/collection/payment-charge.ts';
import { parkObject } from '../../services/lifecycle/parked-object.ts';
import {
  attendPayment,
  clockOfPayment,
  loadPaymentState,
  type PaymentState,
  restartPayment,
} from '../../services/payment/payment-agenda.ts';
import { type RecordedPayment, recordPaymentOutcomes } from '../../services/payment/payment-outcome.ts';
import { startProcessing } from '../../services/payment/payment-request.ts';
import type { Caller } from '../../workflows/lifecycle.messages.ts';
import type { PaymentSnapshot } from '../../workflows/payment/payment.messages.ts';
import { crashPoint } from '../crash-points.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { type GatewayAccess, openGateway } from '../integration/connected-gateway.ts';
import { type RefundsHeardOf, recordMoneyElsewhere } from './money-elsewhere.ts';
import { askAgain, askFirst, cancelAtGateway, type KeepPrepared, unknownOutcome } from './payment-gateway.ts';

/** Which payment of which environment. */
export interface PaymentReference {
  tenantId: string;
  environmentId: string;
  paymentId: string;
}

export interface PaymentMoment extends PaymentReference {
  /** On the customer's clock. */
  at: string;
}

/** What a gateway said of a payment, and who asked it. */
export interface PaymentAnswer extends PaymentMoment {
  outcome: PaymentOutcome;
  caller?: Caller;
}

/** Answer of a gateway about a charge that was sent before, and what the customer's test clock showed then; null on real time. */
export interface LookedUp extends PaymentOutcome {
  /** Absent in answers of earlier releases. */
  clockTime?: string | null;
}

export type PaymentActivities = ReturnType<typeof createPaymentActivities>;

/** What payment workflows and the collection of invoices do. spec: wallets-and-payments §2.19 */
export function createPaymentActivities(access: GatewayAccess) {
  const { database } = access;
  const inScope = <T>(payment: PaymentReference, work: (tx: SqlTransaction) => Promise<T>, caller?: Caller) =>
    inSqlTransaction(database, { ...workflowScope(payment), ...caller }, work);

  /** One conversation with the payment's gateway; whatever it throws means that nothing is known. */
  async function converse(payment: PaymentReference, step: 'chargePayment' | 'lookUpPayment', ask: Conversation) {
    const request = await inScope(payment, (tx) => chargeOfPayment(tx, payment.paymentId));
    const object = { kind: 'payment', id: payment.paymentId, provider: request.gateway } as const;
    const { gateway, absent } = await openGateway(access, payment, object);
    if (!gateway) return unknownOutcome(absent);
    const outcome = await withHeartbeat(async () => {
      crashPoint(`${step}.beforeEffect`);
      const keep = (providerId: string) =>
        inScope(payment, (tx) => keepPreparedCharge(tx, payment.paymentId, providerId));
      const outcome = await ask(gateway, request, keep);
      crashPoint(`${step}.afterEffect`);
      return outcome;
    });
    crashPoint(`${step}.beforeAnswer`);
    return outcome;
  }

  return {
    /** Sends the charge. A retry asks about the first try before it sends the same token again. One external call. */
    chargePayment: (payment: PaymentReference): Promise<PaymentOutcome> =>
      converse(payment, 'chargePayment', Context.current().info.attempt === 1 ? askFirst : askAgain),

    /** Asks about a charge that was sent, and sends it with the same token if it never arrived. */
    lookUpPayment: async (payment: PaymentReference): Promise<LookedUp> => {
      const outcome = await converse(payment, 'lookUpPayment', askAgain);
      return { ...outcome, clockTime: await inScope(payment, (tx) => clockOfPayment(tx, payment.paymentId)) };
    },

    /**
     * Asks for disputes of a captured charge and for refunds that somebody made at the gateway itself, records each once and takes the credits
     * back that money which left had paid for; null where there are none. Asks until it is answered. Question and record are one step, so
     * that no amount is in the history; a repetition finds what the first try recorded.
     */
    recordRefundsElsewhere: (input: PaymentMoment): Promise<RefundsHeardOf | null> =>
      recordMoneyElsewhere(access, input),

    /** Gives up a charge that waits for its payer; the answer says what is true afterwards. */
    cancelCharge: (payment: PaymentReference): Promise<PaymentOutcome> =>
      converse(payment, 'lookUpPayment', cancelAtGateway),

    /** Records what the gateway said, any number of times. Answers that come together share a transaction. */
    recordPayment: coalesce<PaymentAnswer, RecordedPayment>({
      groupOf: ({ environmentId, caller }) => `${environmentId} ${caller?.actor ?? ''} ${caller?.requestId ?? ''}`,
      async run(answers) {
        crashPoint('recordPayment.beforeEffect');
        const [first] = answers as [PaymentAnswer];
        const results = await inScope(first, (tx) => recordAnswers(tx, answers), first.caller);
        crashPoint('recordPayment.beforeAnswer');
        return results;
      },
    }),

    /** Hands an unanswered payment to its own workflow. */
    attendPayment: (input: PaymentMoment): Promise<void> =>
      inScope(input, (tx) => attendPayment(tx, input.paymentId, input.at)),

    /** Takes up a requested payment: a card is about to be charged, money received outside a gateway is recorded at once. */
    startProcessing: (input: PaymentMoment & { caller: Caller }): Promise<RecordedPayment> =>
      inScope(
        input,
        async (tx) => {
          const started = await startProcessing(tx, input);
          await refreshIncomplete(tx, tx.scope.environmentId, [started]);
          return started;
        },
        input.caller,
      ),

    /** Reads the payment for its own workflow, which from now on waits for the gateway. */
    loadPayment: (input: PaymentMoment): Promise<PaymentSnapshot> =>
      inScope(input, async (tx) => {
        await attendPayment(tx, input.paymentId, input.at);
        return snapshotOf(await loadPaymentState(tx, input.paymentId, input.at));
      }),

    parkPayment: (input: PaymentMoment & { step: string; reason: string }): Promise<PaymentSnapshot> =>
      inScope(input, async (tx) => {
        const { step, reason } = input;
        await parkObject(tx, tx.scope, { objectType: 'payment', objectId: input.paymentId, step, reason });
        return snapshotOf(await loadPaymentState(tx, input.paymentId, input.at));
      }),

    unparkPayment: (input: PaymentMoment): Promise<PaymentSnapshot> =>
      inScope(input, async (tx) => {
        await restartPayment(tx, input);
        return snapshotOf(await loadPaymentState(tx, input.paymentId, input.at));
      }),
  };
}

/** Records what gateways said of payments of one environment; answered in the order asked. */
export async function recordAnswers(tx: SqlTransaction, answers: readonly PaymentAnswer[]): Promise<RecordedPayment[]> {
  const results = await recordPaymentOutcomes(tx, answers);
  await refreshIncomplete(tx, tx.scope.environmentId, results);
  crashPoint('recordPayment.beforeCommit');
  return results;
}

type Conversation = (gateway: PaymentGateway, request: ChargeRequest, keep: KeepPrepared) => Promise<PaymentOutcome>;

function snapshotOf(state: PaymentState): PaymentSnapshot {
  const ended = state.paymentStatus !== 'PROCESSING' && state.agenda.length === 0;
  return {
    version: state.version,
    status: state.paymentStatus.toLowerCase(),
    agenda: state.agenda,
    ended,
    details: ended ? endText(state) : `${state.paymentStatus.toLowerCase()} · ${waitText(state)}`,
    spreadMs: 0,
    blockedOn: state.blockedOn,
    blockedReason: state.blockedReason,
    paymentStatus: state.paymentStatus,
    invoiceId: state.invoiceId,
    subscriptionId: state.subscriptionId,
    needsAction: state.actionUrl !== null,
    awaitsPayer: state.awaitsPayerSince !== null,
  };
}

/** End of a payment, and its reason where it failed. */
function endText({ paymentStatus, errorMessage }: PaymentState): string {
  const status = paymentStatus.toLowerCase();
  return paymentStatus === 'FAILED' ? `${status}: ${errorMessage ?? 'the gateway gave no reason'}` : status;
}

/** For whom a payment waits, since when, and until when somebody asks. */
function waitText({ actionUrl, awaitsPayerSince }: PaymentState): string {
  if (awaitsPayerSince === null)
    return `waits for the gateway${actionUrl ? ', which said last that the payer has to confirm' : ''}`;
  return (
    `waits for its payer to confirm since ${awaitsPayerSince}; the gateway is asked after growing pauses, ` +
    `at least daily until ${askedDailyUntil(awaitsPayerSince)} and ever more rarely after that`
  );
}
