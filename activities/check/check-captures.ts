import { type Finding, maxViolations, type Violation } from '../../db/check/invariant.ts';
import type { Database } from '../../db/orm.ts';
import { decimalText } from '../../db/rows/columns.ts';
import { systemScope } from '../../db/scope.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import type {
  SandboxCapture,
  SandboxLinkCapture,
  SandboxOperator,
} from '../../integrations/sandbox-gateway/operator.ts';

/**
 * I9: the gateway's own books against the recorded payments. A capture comes before its record, so captures are read before
 * and after the payments: what was captured before has its payment, and what is recorded was captured by then.
 */
export async function checkCaptures(database: Database, gateway: SandboxOperator): Promise<Finding[]> {
  const before = await gateway.captures();
  const payments = await inSqlTransaction(database, systemScope, (tx) => tx.rows<GatewayPayment>(paymentsText));
  const after = await gateway.captures();
  const linked = await gateway.linkCaptures();
  return [
    {
      id: 'I9',
      rule: 'the gateway has captured an intent at most once, for the amount of its charge',
      examined: after.length,
      violations: [
        ...repeated(after.map((capture) => capture.intentToken)),
        ...(await gateway.inconsistentIntents()).map((object) => ({ object, problem: 'charge and capture differ' })),
      ].slice(0, maxViolations),
    },
    {
      id: 'I9',
      rule: 'what was captured is recorded, or its payment still asks the gateway',
      examined: before.length,
      violations: unrecorded(before, payments).slice(0, maxViolations),
    },
    {
      id: 'I9',
      rule: 'what a link took is a payment of its own, or the payment of the link still asks the gateway',
      examined: linked.length,
      violations: unrecordedOfLinks(linked, payments).slice(0, maxViolations),
    },
    {
      id: 'I9',
      rule: 'what is recorded as paid through the gateway was captured',
      examined: payments.filter(isRecorded).length,
      violations: uncaptured(payments, after, linked).slice(0, maxViolations),
    },
  ];
}

interface GatewayPayment {
  id: string;
  gateway_payment_id: string | null;
  intent_token: string;
  amount: string;
  currency: string;
  payment_status: string;
  [column: string]: unknown;
}

const paymentsText = `
select id, gateway_payment_id, intent_token, amount, currency, payment_status from payment where payment_gateway = 'sandbox'
union all
select id, null, intent_token, amount, currency, case charge_status when 'open' then 'PROCESSING' when 'returned' then 'REFUNDED' else 'FAILED' end
from opening_charge c where payment_gateway = 'sandbox'`;

const recordedStatuses = new Set(['SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED', 'REFUNDED']);
const openStatuses = new Set(['INITIATED', 'PENDING', 'PROCESSING']);
const isRecorded = (payment: GatewayPayment) => recordedStatuses.has(payment.payment_status);

function repeated(tokens: readonly string[]): Violation[] {
  return [...Map.groupBy(tokens, (token) => token)].flatMap(([object, { length }]) =>
    length === 1 ? [] : [{ object, problem: `captured ${length} times` }],
  );
}

function unrecorded(captures: readonly SandboxCapture[], payments: readonly GatewayPayment[]): Violation[] {
  const byToken = new Map(payments.map((payment) => [payment.intent_token, payment]));
  return captures.flatMap(({ intentToken, amount, currency }) => {
    const payment = byToken.get(intentToken);
    const captured = `${amount} ${currency} captured for intent ${intentToken}`;
    if (!payment) return [{ object: intentToken, problem: `${captured}, of which no payment knows` }];
    const { id, payment_status: status } = payment;
    if (!isRecorded(payment) && status !== 'PROCESSING')
      return [{ object: id, problem: `${captured}, but it is ${status}` }];
    return isSame(payment, { amount, currency })
      ? []
      : [{ object: id, problem: `${captured}, recorded ${payment.amount} ${payment.currency}` }];
  });
}

/** Links are read after the payments, so a capture of this moment may not be recorded yet while its payment is open. */
function unrecordedOfLinks(captures: readonly SandboxLinkCapture[], payments: readonly GatewayPayment[]): Violation[] {
  const byGatewayId = new Map(payments.map((payment) => [payment.gateway_payment_id, payment]));
  const asking = new Set(
    payments.filter(({ payment_status }) => openStatuses.has(payment_status)).map((payment) => payment.intent_token),
  );
  return captures.flatMap(({ linkToken, chargeId, amount, currency }) => {
    const payment = byGatewayId.get(chargeId);
    const captured = `${amount} ${currency} captured as ${chargeId} for link ${linkToken}`;
    if (!payment)
      return asking.has(linkToken) ? [] : [{ object: linkToken, problem: `${captured}, of which no payment knows` }];
    if (!isRecorded(payment))
      return [{ object: payment.id, problem: `${captured}, but it is ${payment.payment_status}` }];
    return isSame(payment, { amount, currency })
      ? []
      : [{ object: payment.id, problem: `${captured}, recorded ${payment.amount} ${payment.currency}` }];
  });
}

function uncaptured(
  payments: readonly GatewayPayment[],
  captures: readonly SandboxCapture[],
  linked: readonly SandboxLinkCapture[],
): Violation[] {
  const captured = new Set(captures.map((capture) => capture.intentToken));
  const byLinks = new Set(linked.map(({ chargeId }) => chargeId));
  return payments
    .filter((payment) => isRecorded(payment) && !captured.has(payment.intent_token))
    .filter((payment) => !byLinks.has(payment.gateway_payment_id ?? ''))
    .map(({ id, payment_status: status }) => ({
      object: id,
      problem: `${status}, but the gateway never captured its intent`,
    }));
}

function isSame(payment: GatewayPayment, capture: { amount: string; currency: string }): boolean {
  return decimalText(payment.amount) === decimalText(capture.amount) && payment.currency === capture.currency;
}
