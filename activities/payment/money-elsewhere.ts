import { later } from '../../billing/time/calendar.ts';
import { workflowScope } from '../../db/scope.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import type { GatewayReference } from '../../integrations/gateway-reference.ts';
import type { PaymentGateway } from '../../integrations/payment-gateway.ts';
import { clockOfPayment } from '../../services/payment/payment-agenda.ts';
import {
  type AccountedRefunds,
  accountedRefunds,
  type GivenBack,
  RefundsChanged,
} from '../../services/refund/refund-count.ts';
import {
  capturedCharge,
  type MoneyElsewhere,
  type RefundedPayment,
  recordRefundsElsewhere,
} from '../../services/refund/refund-elsewhere.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { type GatewayAccess, openGateway } from '../integration/connected-gateway.ts';
import { reasonOf } from '../integration/gateway-reason.ts';

/** Payment whose refunds at its gateway are recorded, and what the customer's test clock showed then; null on real time. */
export interface RefundsHeardOf extends RefundedPayment {
  clockTime: string | null;
}

interface ChargedPayment {
  tenantId: string;
  environmentId: string;
  paymentId: string;
}

/**
 * Asks the gateway of a captured charge for refunds and disputes that were not made by us, and records them; null where there are none.
 * Throws an outage, so that it is repeated, where the gateway gives no answer, and where it tells only a sum while a refund of ours is undecided.
 */
export async function recordMoneyElsewhere(
  access: GatewayAccess,
  input: ChargedPayment & { at: string },
): Promise<RefundsHeardOf | null> {
  const { clockTime, ...money } = await askForReturns(access, input);
  if (money.refunds.length === 0 && money.disputes.length === 0 && money.givenBack === null) return null;
  const at = clockTime === null ? input.at : later(input.at, clockTime);
  try {
    const refunded = await inSqlTransaction(access.database, workflowScope(input), (tx) =>
      recordRefundsElsewhere(tx, { ...input, ...money, at }),
    );
    return { ...refunded, clockTime };
  } catch (error) {
    throw error instanceof RefundsChanged ? outage(error) : error;
  }
}

/** Asks a gateway about a charge. Throws an outage where it gives no answer: nobody else asks. */
async function askForReturns(
  access: GatewayAccess,
  payment: ChargedPayment,
): Promise<Required<MoneyElsewhere> & { clockTime: string | null }> {
  const { charge, accounted, clockTime } = await inSqlTransaction(
    access.database,
    workflowScope(payment),
    async (tx) => ({
      charge: await capturedCharge(tx, payment.paymentId),
      accounted: await accountedRefunds(tx, payment.paymentId),
      clockTime: await clockOfPayment(tx, payment.paymentId),
    }),
  );
  if (charge === null) return { refunds: [], disputes: [], givenBack: null, clockTime };
  const object = { kind: 'payment', id: payment.paymentId, provider: charge.gateway } as const;
  const { gateway } = await openGateway(access, payment, object);
  try {
    return await withHeartbeat(async () => ({
      refunds: (await gateway?.refunds?.madeElsewhere?.(charge)) ?? [],
      disputes: (await gateway?.disputes?.ofCharge(charge)) ?? [],
      givenBack: await sumOf(gateway, charge, accounted),
      clockTime,
    }));
  } catch (error) {
    throw outage(error);
  }
}

/** Sum that a gateway without single refunds gave back; null where it is all ours. After a repetition it holds refunds the first try recorded. */
async function sumOf(
  gateway: PaymentGateway | null,
  charge: GatewayReference,
  { amount, elsewhere, isUnderWay, asOf }: AccountedRefunds,
): Promise<GivenBack | null> {
  if (!gateway?.refunds?.givenBack) return null;
  if (isUnderWay)
    throw new RefundsChanged(
      `a refund of ours is still undecided at ${gateway.name}, which tells only the sum of all refunds`,
    );
  const sum = await gateway.refunds.givenBack(charge);
  return sum === null || (sum === amount && elsewhere === '0') ? null : { amount: sum, asOf };
}

function outage(error: unknown): Error {
  const reason = error instanceof RefundsChanged ? error.message : reasonOf(error);
  return Object.assign(new Error(reason, { cause: error }), { code: 'ETIMEDOUT' });
}
