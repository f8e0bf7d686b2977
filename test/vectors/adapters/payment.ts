import { askAgain, askFirst } from '../../../activities/payment/payment-gateway.ts';
import { paidByPayments } from '../../../billing/invoice/invoice-payment.ts';
import {
  type PaymentOutcome,
  type PaymentStatus,
  paymentEventName,
  paymentMoveAllowed,
  paymentStatusAfter,
} from '../../../billing/payment/payment.ts';
import {
  type GatewayCharge,
  GatewayOutcomeUnknown,
  type OneStepCharges,
  type PaymentGateway,
} from '../../../integrations/payment-gateway.ts';
import type { Adapters, Given } from '../adapter.ts';

function transitions({ moves }: Given): unknown {
  const result = ([from, to]: [PaymentStatus, PaymentStatus]) =>
    paymentMoveAllowed(from, to) ? 'allowed' : 'rejected';
  return { results: moves.map(result) };
}

/** A gateway that does what a step says at its next charge, and keeps what it captured by token as every gateway does. */
function scriptedGateway(request: { amount: string; currency: string }) {
  const charges = new Map<string, GatewayCharge>();
  const tokens = new Set<string>();
  let step = '';
  const charging: OneStepCharges = {
    resend: { untilMs: Number.POSITIVE_INFINITY },
    async charge({ intentToken }) {
      tokens.add(intentToken);
      if (step === 'gateway_timeout') throw new GatewayOutcomeUnknown('timeout');
      const status = step === 'gateway_declined' ? ('declined' as const) : ('succeeded' as const);
      const answer = {
        ...request,
        status,
        gatewayPaymentId: 'ch_1',
        gatewayMetadata: {},
        declineReason: null,
        actionUrl: null,
      };
      const first = charges.get(intentToken) ?? answer;
      charges.set(intentToken, first);
      return first;
    },
    async lookUp({ intentToken }) {
      return charges.get(intentToken) ?? { status: 'not_found' };
    },
    async cancel({ intentToken }) {
      return charges.get(intentToken) ?? { status: 'not_found' };
    },
  };
  const captured = () => [...charges.values()].filter((charge) => charge.status === 'succeeded').length;
  return {
    gateway: { name: 'scripted', charges: charging } as PaymentGateway,
    tokens,
    captured,
    follow: (next: string) => {
      step = next;
    },
  };
}

/**
 * One exchange with the gateway, a look-up and what follows from it, counts as one request. What a killed worker heard is
 * lost; what is heard otherwise is recorded by the rules of the product.
 */
async function recovery({ payment, steps }: Given): Promise<unknown> {
  const request = { amount: payment.amount, currency: 'usd' };
  const charge = {
    ...request,
    intentToken: `${payment.id}:1`,
    token: 'pn_1',
    providerId: null,
    chargeProviderId: null,
    createdAt: new Date().toISOString(),
    customerToken: null,
    offSession: true,
    paymentMethodToken: 'pm',
    description: '',
    metadata: {},
  };
  const scripted = scriptedGateway(request);
  const events: string[] = [];
  let status: PaymentStatus = payment.payment_status;
  let requests = 0;
  for (const [index, step] of steps.entries()) {
    if (step === 'worker_killed') continue;
    scripted.follow(step);
    const ask = requests === 0 ? askFirst : askAgain;
    const outcome: PaymentOutcome = await ask(scripted.gateway, charge);
    requests += 1;
    if (steps[index + 1] === 'worker_killed') continue;
    const next = paymentStatusAfter(outcome) ?? status;
    const event = paymentEventName(status, next);
    if (event) events.push(event);
    status = next;
  }
  return {
    gateway_requests: requests,
    distinct_gateway_tokens: scripted.tokens.size,
    charges: scripted.captured(),
    payment_status: status,
    success_events: events.filter((event) => event === 'payment.success').length,
    failed_events: events.filter((event) => event === 'payment.failed').length,
    invoice_amount_paid: paidByPayments([{ amount: payment.amount, paymentStatus: status }]),
  };
}

export const paymentAdapters: Adapters = {
  payment_transitions: transitions,
  payment_recovery: recovery,
};
