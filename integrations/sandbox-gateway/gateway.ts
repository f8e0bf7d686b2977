import { randomUUID } from 'node:crypto';
import { refuse } from '../../billing/refusal.ts';
import {
  type CardDetails,
  type ChargeRequest,
  type GatewayCharge,
  type GatewayLookUp,
  GatewayOutcomeUnknown,
  type OneStepCharges,
  type PaymentGateway,
  type PlayedPayer,
  type Refunds,
  type SavedCard,
  type SavedMethods,
} from '../payment-gateway.ts';
import type { PaymentLinks } from '../payment-link.ts';
import { plainBehaviours, sandboxCardOf } from './card.ts';
import { withFaults } from './fault.ts';
import { attemptUnderWay, declineClassOf, payLink, playSetup, sandboxLinks } from './link.ts';
import { type SandboxOperator, sandboxOperator } from './operator.ts';
import { lookUpRefund, refundCharge } from './refund.ts';
import {
  chargeAtOnceText,
  chargeOfIntentText,
  chargeText,
  lookUpText,
  saveCardText,
  settleText,
} from './statements.ts';
import { type ChargeRow, openSandboxStore, type SandboxStore } from './store.ts';

/** A charge as the sandbox itself takes it: it needs no wire token, no customer and no look-up by id. */
export type SandboxCharge = Pick<
  ChargeRequest,
  'intentToken' | 'amount' | 'currency' | 'paymentMethodToken' | 'description' | 'metadata'
>;

/** The sandbox gateway with its own calls, and with what only its operator, the checks and the tests may ask. */
export interface SandboxGateway extends PaymentGateway {
  readonly charges: OneStepCharges;
  readonly links: PaymentLinks;
  readonly methods: SavedMethods;
  readonly refunds: Refunds;
  readonly payer: PlayedPayer;
  savePaymentMethod(card: CardDetails): Promise<SavedCard>;
  charge(request: SandboxCharge): Promise<GatewayCharge>;
  chargeAtOnce(requests: readonly SandboxCharge[]): Promise<Map<string, GatewayCharge>>;
  lookUp(intentToken: string): Promise<GatewayLookUp>;
  cancel(intentToken: string): Promise<GatewayLookUp>;
  readonly operator: SandboxOperator;
  close(): Promise<void>;
}

export const sandboxGatewayName = 'sandbox';

/** The sandbox forgets nothing, so a token may be sent again at any time. */
const resend = { untilMs: Number.POSITIVE_INFINITY };

/**
 * The gateway that is part of the product: it moves no money, keeps every call, and answers by card number the way real
 * gateways sometimes do (see `card.ts`). `url` is a database on any server; the caller closes it.
 */
export function openSandboxGateway(options: { url: string; poolSize?: number }): SandboxGateway {
  const store = openSandboxStore(options);
  const operator = sandboxOperator(store);
  const own = {
    savePaymentMethod: (card: CardDetails) => savePaymentMethod(store, card),
    charge: (request: SandboxCharge) => charge(store, request),
    chargeAtOnce: (requests: readonly SandboxCharge[]) => chargeAtOnce(store, requests),
    lookUp: (intentToken: string) => lookUp(store, intentToken),
    cancel: (intentToken: string) => cancel(store, intentToken),
  };
  return {
    name: sandboxGatewayName,
    ...own,
    charges: {
      resend,
      charge: (request) => withFaults(store, 'charge', request.intentToken, () => own.charge(request)),
      chargeAtOnce: own.chargeAtOnce,
      lookUp: ({ intentToken }) => own.lookUp(intentToken),
      cancel: ({ intentToken }) => own.cancel(intentToken),
    },
    links: sandboxLinks(store),
    methods: { saveCard: own.savePaymentMethod },
    refunds: {
      resend,
      refund: (request) => withFaults(store, 'refund', request.refundToken, () => refundCharge(store, request)),
      lookUp: ({ refundToken }) => lookUpRefund(store, refundToken),
    },
    payer: {
      play: async (token, action) => (await playSetup(store, token, action)) ?? operator[action](token),
      underWay: (intentToken) => attemptUnderWay(store, intentToken),
      payLink: async (intentToken, card) => payLink(store, intentToken, (await own.savePaymentMethod(card)).token),
    },
    operator,
    close: () => store.close(),
  };
}

async function savePaymentMethod(store: SandboxStore, details: CardDetails): Promise<SavedCard> {
  const card = sandboxCardOf(details.cardNumber);
  if (!card) {
    throw refuse(
      'validation_error',
      'card_number must be one of the sandbox gateway’s test cards, such as 4000000000000002',
      {
        fields: { card_number: 'not a test card of the sandbox gateway' },
      },
    );
  }
  const saved = {
    token: `sandbox_card_${randomUUID()}`,
    brand: 'visa',
    lastFour: details.cardNumber.replaceAll(' ', '').slice(-4),
  };
  await store.rows(saveCardText, [saved.token, card.behaviour, card.count, saved.brand, saved.lastFour]);
  return saved;
}

/** The first charge of an intent decides; every later request with its token gets that charge, or is refused when it asks for something else. */
async function charge(store: SandboxStore, request: SandboxCharge): Promise<GatewayCharge> {
  const [made] = await store.rows<ChargeRow & { made: boolean }>(chargeText, [
    request.intentToken,
    request.paymentMethodToken,
    request.amount,
    request.currency,
    `sandbox_charge_${randomUUID()}`,
    request.description,
    JSON.stringify(request.metadata),
  ]);
  if (!made) throw new Error(`the sandbox gateway knows no card ${request.paymentMethodToken}`);
  if (made.made) return answerOfNewCharge(made);
  // Either the intent was charged before, or the card's behaviour lost the request before it arrived.
  const [existing] = await store.rows<ChargeRow & { same: boolean }>(chargeOfIntentText, [
    request.intentToken,
    request.paymentMethodToken,
    request.amount,
    request.currency,
  ]);
  if (!existing) throw new GatewayOutcomeUnknown('the sandbox gateway could not be reached');
  if (!existing.same)
    throw new Error(`intent ${request.intentToken} was first charged with another amount, currency or card`);
  return wireCharge(existing);
}

/** Cards that do nothing strange to a charge are decided in one statement; the others show what they do to `charge`. */
async function chargeAtOnce(
  store: SandboxStore,
  requests: readonly SandboxCharge[],
): Promise<Map<string, GatewayCharge>> {
  const asked = requests.map((request) => ({ ...request, id: `sandbox_charge_${randomUUID()}` }));
  const rows = await store.rows<ChargeRow>(chargeAtOnceText, [JSON.stringify(asked), plainBehaviours]);
  return new Map(rows.map((row) => [row.intent_token, wireCharge(row)]));
}

function answerOfNewCharge(row: ChargeRow): GatewayCharge {
  if (row.behaviour === 'loses_answer') throw new GatewayOutcomeUnknown('the answer of the sandbox gateway was lost');
  const answer = wireCharge(row);
  return row.behaviour === 'answers_wrongly' ? { ...answer, amount: '0.01' } : answer;
}

async function lookUp(store: SandboxStore, intentToken: string): Promise<GatewayLookUp> {
  const [row] = await store.rows<ChargeRow>(lookUpText, [intentToken]);
  return row?.id ? wireCharge(row) : { status: 'not_found' };
}

async function cancel(store: SandboxStore, intentToken: string): Promise<GatewayLookUp> {
  await store.rows(settleText, [intentToken, 'declined', 'canceled', 'cancel']);
  return lookUp(store, intentToken);
}

function wireCharge(row: ChargeRow): GatewayCharge {
  return {
    status: row.state === 'captured' ? 'succeeded' : row.state,
    gatewayPaymentId: row.id,
    amount: row.amount,
    currency: row.currency,
    gatewayMetadata: { sandbox_behaviour: row.behaviour },
    declineReason: row.decline_reason,
    ...(row.decline_reason
      ? { declineCode: row.decline_reason, declineClass: declineClassOf(row.decline_reason) }
      : {}),
    actionUrl: row.state === 'requires_action' ? `sandbox://confirm/${row.intent_token}` : null,
  };
}
