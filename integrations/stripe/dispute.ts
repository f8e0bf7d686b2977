import type { DisputeAtGateway, DisputeStatus } from '../../billing/payment/dispute.ts';
import type { GatewayReference } from '../gateway-reference.ts';
import type { Disputes } from '../payment-gateway.ts';
import { amountOfStripe } from './amount.ts';
import { listAll, type StripeClient, StripeKeyRefused } from './client.ts';
import { chargeOf } from './refund.ts';
import type { StripeDispute } from './shapes.ts';

/** Disputes of payment intents, as Stripe lists them. An inquiry, which Stripe calls a warning, takes no money and is none. docs: providers.md */
export function stripeDisputes(client: StripeClient): Disputes {
  return { ofCharge: (charge) => disputesOf(client, charge) };
}

async function disputesOf(client: StripeClient, charge: GatewayReference): Promise<DisputeAtGateway[]> {
  return (await listed(client, charge))
    .filter(({ status }) => !status.startsWith('warning_'))
    .map((dispute) => ({
      gatewayDisputeId: dispute.id,
      status: statusOf(dispute),
      amount: amountOfStripe(dispute.amount, dispute.currency),
      currency: dispute.currency,
      reason: dispute.reason,
      openedAt: instantOf(dispute.created),
      evidenceDueAt: dispute.evidence_details?.due_by ? instantOf(dispute.evidence_details.due_by) : null,
    }));
}

/** A restricted key that may not read disputes learns of none; what else it may read goes on. */
async function listed(client: StripeClient, charge: GatewayReference): Promise<StripeDispute[]> {
  try {
    return await listAll<StripeDispute>(client, '/disputes', { payment_intent: chargeOf(charge) });
  } catch (error) {
    if (error instanceof StripeKeyRefused && error.isForbidden) return [];
    throw error;
  }
}

/** A dispute that Stripe prevented cost nothing. */
function statusOf({ status }: StripeDispute): DisputeStatus {
  if (status === 'lost') return 'lost';
  return status === 'won' || status === 'prevented' ? 'won' : 'open';
}

const instantOf = (seconds: number) => new Date(seconds * 1000).toISOString();
