import type { RefundOutcome } from '../../billing/payment/refund.ts';
import { workflowScope } from '../../db/scope.ts';
import { inSqlTransaction, type SqlTransaction } from '../../db/transaction.ts';
import { refundableGateways } from '../../integrations/provider-adapter.ts';
import { parkObject } from '../../services/lifecycle/parked-object.ts';
import {
  loadRefundState,
  type RefundState,
  refundOfCharge,
  restartRefund,
  retryRefund,
  sendDueRefund,
} from '../../services/refund/refund-send.ts';
import { recordRefund } from '../../services/refund/refund-settle.ts';
import type { Caller, KeptCommand } from '../../workflows/lifecycle.messages.ts';
import type { RefundSnapshot } from '../../workflows/payment/refund.messages.ts';
import * as messages from '../../workflows/payment/refund.messages.ts';
import { contentOf } from '../command-content.ts';
import { crashPoint } from '../crash-points.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { type GatewayAccess, openGateway } from '../integration/connected-gateway.ts';
import { keepingRefusals } from '../kept-refusal.ts';
import { askRefundAgain, askSettledRefund, unknownRefund } from './refund-gateway.ts';

interface RefundReference {
  tenantId: string;
  environmentId: string;
  refundId: string;
}

interface RefundMoment extends RefundReference {
  /** On the customer's clock. */
  at: string;
}

export type RefundActivities = ReturnType<typeof createRefundActivities>;

/** What refund workflows do. spec: wallets-and-payments §2.21 */
export function createRefundActivities(access: GatewayAccess) {
  const { database, gateways, providers } = access;
  const inScope = <T>(refund: RefundReference, work: (tx: SqlTransaction) => Promise<T>, caller?: Caller) =>
    inSqlTransaction(database, { ...workflowScope(refund), ...caller }, work);
  const snapshot = async (tx: SqlTransaction, refundId: string) => snapshotOf(await loadRefundState(tx, refundId));

  return {
    loadRefund: (input: RefundMoment): Promise<RefundSnapshot> => inScope(input, (tx) => snapshot(tx, input.refundId)),

    /** Marks a refund that is due as handed to its gateway, or pays it into the wallet once the gateway has refused it enough. */
    sendRefund: (input: RefundMoment): Promise<RefundSnapshot> =>
      inScope(input, async (tx) => {
        await sendDueRefund(tx, input.refundId, input.at);
        crashPoint('sendRefund.beforeCommit');
        return snapshot(tx, input.refundId);
      }),

    /** Asks the gateway about a refund that was sent, and sends it with the same token if it never arrived. One external call. */
    askRefund: (refund: RefundReference): Promise<RefundOutcome> => askGateway(access, refund, askRefundAgain),

    /** Asks the gateway about a refund that had succeeded, until it answers. One external call, which sends nothing. */
    askSettledRefund: (refund: RefundReference): Promise<RefundOutcome> => askGateway(access, refund, askSettledRefund),

    /** Records what the gateway said, any number of times. */
    recordRefund: (input: RefundMoment & { outcome: RefundOutcome }): Promise<RefundSnapshot> =>
      inScope(input, async (tx) => {
        await recordRefund(tx, input);
        crashPoint('recordRefund.beforeCommit');
        return snapshot(tx, input.refundId);
      }),

    ...keepingRefusals(database, {
      retryRefund: ({ command, ...self }: RefundReference & { command: KeptCommand }): Promise<RefundSnapshot> =>
        inScope(
          self,
          async (tx) => {
            const { refundId } = self;
            const { target } = await contentOf(tx, messages.retryRefund, command);
            const able = refundableGateways(gateways, providers?.adapters);
            await retryRefund(tx, { refundId, target, at: command.at, refundableGateways: able });
            return snapshot(tx, refundId);
          },
          command.caller,
        ),
    }),

    parkRefund: (input: RefundMoment & { step: string; reason: string }): Promise<RefundSnapshot> =>
      inScope(input, async (tx) => {
        const { step, reason, refundId } = input;
        await parkObject(tx, tx.scope, { objectType: 'refund', objectId: refundId, step, reason });
        return snapshot(tx, refundId);
      }),

    unparkRefund: (input: RefundMoment): Promise<RefundSnapshot> =>
      inScope(input, async (tx) => {
        await restartRefund(tx, input.refundId, input.at);
        return snapshot(tx, input.refundId);
      }),
  };
}

async function askGateway(
  access: GatewayAccess,
  refund: RefundReference,
  question: typeof askRefundAgain,
): Promise<RefundOutcome> {
  const request = await inSqlTransaction(access.database, workflowScope(refund), (tx) =>
    refundOfCharge(tx, refund.refundId),
  );
  const object = { kind: 'refund', id: refund.refundId, provider: request.gateway } as const;
  const { gateway, absent } = await openGateway(access, refund, object);
  if (!gateway) return unknownRefund(absent);
  return withHeartbeat(async () => {
    crashPoint('askRefund.beforeEffect');
    const outcome = await question(gateway, request);
    crashPoint('askRefund.afterEffect');
    return outcome;
  });
}

function snapshotOf(state: RefundState): RefundSnapshot {
  const status = state.refundStatus.toLowerCase();
  return {
    version: state.version,
    status,
    agenda: state.agenda,
    ended: state.agenda.length === 0 && state.blockedOn === null,
    details: status,
    spreadMs: 0,
    blockedOn: state.blockedOn,
    blockedReason: state.blockedReason,
    refundStatus: state.refundStatus,
  };
}
