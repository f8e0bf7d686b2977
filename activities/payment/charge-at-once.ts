import type { AgendaItem } from '../../billing/agenda.ts';
import type { SqlTransaction } from '../../db/transaction.ts';
import type { PaymentGateways } from '../../integrations/payment-gateway.ts';
import type { AttendedSubscription } from '../../services/charging/subscription-snapshot.ts';
import { chargesOfPayments, type PaymentCharge } from '../../services/collection/payment-charge.ts';
import { crashPoint } from '../crash-points.ts';
import type { PaymentAnswer } from './payment.ts';
import { askAtOnce, decidesAtOnce } from './payment-gateway.ts';

/** A subscription that has just taken a step: how it stands, and the instant of the step. */
interface Stepped {
  subscriptionId: string;
  agenda: readonly AgendaItem[];
  blockedOn: string | null;
  at: string;
}

/** Each subscription of a step with the instant it was taken at. */
export function steppedAt(
  attended: readonly AttendedSubscription[],
  moments: readonly { subscriptionId: string; at: string }[],
): Stepped[] {
  const instants = new Map(moments.map(({ subscriptionId, at }) => [subscriptionId, at]));
  return attended.flatMap(({ row, agenda, blockedOn }) => {
    const at = instants.get(row.id);
    return at === undefined ? [] : [{ subscriptionId: row.id, agenda, blockedOn, at }];
  });
}

/** A charge that is the next thing to do, and due. */
export interface DueCharge {
  subscriptionId: string;
  paymentId: string;
  at: string;
  charge: PaymentCharge;
}

/** What the payments are that the step left due, of gateways that decide at once; read in the transaction of the step. */
export async function dueChargesAtOnce(
  tx: SqlTransaction,
  gateways: PaymentGateways,
  stepped: readonly Stepped[],
): Promise<DueCharge[]> {
  const due = stepped.flatMap(({ subscriptionId, agenda, blockedOn, at }) => {
    const next = blockedOn === null ? agenda[0] : undefined;
    const isDue = next?.kind === 'chargePayment' && next.at <= at;
    return isDue ? [{ subscriptionId, paymentId: next.ref, at: next.at }] : [];
  });
  const charges = await chargesOfPayments(
    tx,
    due.map(({ paymentId }) => paymentId),
  );
  return due.flatMap((each) => {
    const charge = charges.get(each.paymentId);
    const gateway = charge && gateways.get(charge.gateway);
    return gateway && decidesAtOnce(gateway) ? [{ ...each, charge }] : [];
  });
}

/**
 * Sends the charges, outside any transaction, and answers what was decided. A charge that is not among them stays on its agenda, and
 * is sent by `chargePayment` as any other; so is one whose answer was lost with its worker, under the same token.
 * spec: wallets-and-payments §2.19
 */
export async function sendAtOnce(
  gateways: PaymentGateways,
  owner: { tenantId: string; environmentId: string },
  charges: readonly DueCharge[],
): Promise<(PaymentAnswer & { subscriptionId: string })[]> {
  const answers: (PaymentAnswer & { subscriptionId: string })[] = [];
  for (const [name, ofGateway] of Map.groupBy(charges, ({ charge }) => charge.gateway)) {
    const gateway = gateways.get(name);
    if (!gateway) continue;
    crashPoint('chargeAtOnce.beforeEffect');
    const requests = ofGateway.map(({ charge }) => charge);
    const outcomes = await askAtOnce(gateway, requests);
    crashPoint('chargeAtOnce.afterEffect');
    for (const { subscriptionId, paymentId, at, charge } of ofGateway) {
      const outcome = outcomes.get(charge.intentToken);
      const { tenantId, environmentId } = owner;
      if (outcome) answers.push({ tenantId, environmentId, subscriptionId, paymentId, outcome, at });
    }
  }
  return answers;
}
