import { decimal, decimalString, sum } from '../../../billing/money/money.ts';
import { refundTokenOf } from '../../../billing/payment/refund.ts';
import { type Finding, maxViolations, type Violation } from '../../../db/check/invariant.ts';
import type { Database } from '../../../db/orm.ts';
import { decimalText } from '../../../db/rows/columns.ts';
import { systemScope } from '../../../db/scope.ts';
import { inSqlTransaction, type SqlTransaction } from '../../../db/transaction.ts';
import { elsewhereOf, type FakeCapture, type FakeReturn } from '../../../dev/provider-fakes/money.ts';
import type { FakeAccounts } from '../../../dev/provider-fakes/shell.ts';
import { wireToken } from '../../../services/collection/wire-token.ts';

/** Fakes by the name of their gateway; what is recorded of each gateway is compared with all accounts of its fake. */
export type FakesByGateway = Readonly<Record<string, FakeAccounts>>;

/**
 * I9 of providers: the books of their fakes against the recorded payments and refunds, both ways, in amount and currency. What the product
 * still asks a gateway about is no difference; call it when nothing moves money any more.
 */
export async function checkProviderBooks(database: Database, fakes: FakesByGateway): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [gateway, fake] of Object.entries(fakes)) {
    const captures = fake.accounts().flatMap((books) => books.captures());
    const returned = fake.accounts().flatMap((books) => books.returned());
    const recorded = takenOpenings(
      await inSqlTransaction(database, systemScope, (tx) => recordedOf(tx, gateway)),
      captures,
    );
    findings.push(
      finding(`what ${gateway} took is recorded, or asked about`, captures, unrecordedCaptures(captures, recorded)),
      finding(`what is recorded as paid was taken by ${gateway}`, recorded.payments, untaken(captures, recorded)),
      finding(`what ${gateway} gave back is recorded, or asked about`, returned, unrecordedReturns(returned, recorded)),
      finding(
        `what is recorded as refunded was given back by ${gateway}`,
        recorded.refunds,
        unreturned(returned, recorded),
      ),
    );
  }
  return findings;
}

function finding(rule: string, examined: readonly unknown[], violations: readonly Violation[]): Finding {
  return { id: 'I9', rule, examined: examined.length, violations: violations.slice(0, maxViolations) };
}

interface PaymentRow {
  id: string;
  gateway_id: string | null;
  intent_token: string;
  amount: string;
  currency: string;
  /** Whether the money counts as taken, is asked about, or neither. */
  standing: 'taken' | 'open' | 'none';
  /** True of a charge before its subscription, whose money went back without a refund. */
  is_returned: boolean;
  [column: string]: unknown;
}

interface RefundRow {
  id: string;
  gateway_id: string | null;
  attempt: number;
  amount: string;
  currency: string;
  standing: 'returned' | 'open' | 'none';
  /** The gateway's id of the charge that it is a part of. */
  capture_id: string | null;
  [column: string]: unknown;
}

interface Recorded {
  payments: PaymentRow[];
  refunds: RefundRow[];
}

async function recordedOf(tx: SqlTransaction, gateway: string): Promise<Recorded> {
  return {
    payments: await tx.rows<PaymentRow>(paymentsText, [gateway]),
    refunds: summed(await tx.rows<RefundRow>(refundsText, [gateway])),
  };
}

/** Refunds as books have them: of a gateway that shows none singly, those that were made there are one sum of their charge. */
function summed(refunds: readonly RefundRow[]): RefundRow[] {
  const isSum = ({ gateway_id, capture_id }: RefundRow) =>
    capture_id !== null && gateway_id?.startsWith(`${elsewhereOf(capture_id)}:`) === true;
  const byCharge = Map.groupBy(refunds.filter(isSum), ({ capture_id }) => capture_id ?? '');
  const sums = [...byCharge].flatMap(([captureId, [first, ...others]]) => {
    if (!first) return [];
    const amount = decimalString(sum([first, ...others].map((each) => decimal(each.amount))));
    return [{ ...first, gateway_id: elsewhereOf(captureId), amount }];
  });
  return [...refunds.filter((each) => !isSum(each)), ...sums];
}

/** What was prepared for a charge before its subscription may be another object than its payment, which has our name all the same. */
function takenOpenings({ payments, refunds }: Recorded, captures: readonly FakeCapture[]): Recorded {
  const idOf = ({ intent_token, gateway_id }: PaymentRow) =>
    captures.find(({ token }) => token === wireToken(intent_token))?.id ?? gateway_id;
  const named = payments.map((each) => (each.is_returned ? { ...each, gateway_id: idOf(each) } : each));
  return { payments: named, refunds };
}

const paymentsText = `
select id, gateway_payment_id as gateway_id, intent_token, amount, currency, false as is_returned,
  case when payment_status in ('SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED', 'REFUNDED') then 'taken'
    when payment_status in ('INITIATED', 'PENDING', 'PROCESSING') then 'open' else 'none' end as standing
from payment where payment_gateway = $1
union all
select id, provider_object_id, intent_token, amount, currency, charge_status = 'returned',
  case charge_status when 'open' then 'open' else 'taken' end
from opening_charge where payment_gateway = $1`;

const refundsText = `
select r.id, r.gateway_refund_id as gateway_id, r.attempt, r.amount, r.currency, p.gateway_payment_id as capture_id,
  case r.refund_status when 'SUCCEEDED' then 'returned' when 'PROCESSING' then 'open' else 'none' end as standing
from refund r join payment p on p.id = r.payment_id
where p.payment_gateway = $1 and r.refund_destination = 'GATEWAY'`;

const moneyOf = ({ amount, currency }: { amount: string; currency: string }) =>
  `${decimalText(amount)} ${currency.toLowerCase()}`;

function unrecordedCaptures(captures: readonly FakeCapture[], { payments }: Recorded): Violation[] {
  const byId = new Map(payments.map((payment) => [payment.gateway_id, payment]));
  const asked = new Set(
    payments.filter(({ standing }) => standing === 'open').map(({ intent_token }) => wireToken(intent_token)),
  );
  const seen = new Set<string>();
  return captures.flatMap((capture) => {
    const what = `${moneyOf(capture)} taken`;
    const payment = byId.get(capture.id);
    const isRepeated = seen.has(capture.id);
    seen.add(capture.id);
    if (isRepeated) return [{ object: capture.id, problem: `${what} once more` }];
    if (payment?.standing === 'taken')
      return moneyOf(payment) === moneyOf(capture)
        ? []
        : [{ object: payment.id, problem: `${what}, recorded ${moneyOf(payment)}` }];
    if (payment?.standing === 'open' || asked.has(capture.token ?? '')) return [];
    const problem = payment
      ? `${what}, which payment ${payment.id} does not count`
      : `${what}, of which no payment knows`;
    return [{ object: capture.id, problem }];
  });
}

function untaken(captures: readonly FakeCapture[], { payments }: Recorded): Violation[] {
  const taken = new Set(captures.map(({ id }) => id));
  return payments
    .filter(({ standing, gateway_id }) => standing === 'taken' && !taken.has(gateway_id ?? ''))
    .map((payment) => ({ object: payment.id, problem: `${moneyOf(payment)} paid, which was never taken` }));
}

/** A refund is known to its gateway by that one's id of it, or by the name of one of its tries. */
function isOf({ id, token }: FakeReturn, refund: RefundRow): boolean {
  if (refund.gateway_id === id) return true;
  if (token === null) return false;
  const tries = Array.from({ length: refund.attempt + 1 }, (_, attempt) =>
    wireToken(refundTokenOf(refund.id, attempt)),
  );
  return tries.includes(token);
}

function unrecordedReturns(returned: readonly FakeReturn[], { payments, refunds }: Recorded): Violation[] {
  const withoutRefund = new Set(payments.filter(({ is_returned }) => is_returned).map(({ gateway_id }) => gateway_id));
  const seen = new Set<string>();
  return returned.flatMap((money) => {
    const what = `${moneyOf(money)} given back of ${money.captureId}`;
    const refund = refunds.find((each) => isOf(money, each));
    const isRepeated = refund !== undefined && seen.has(refund.id);
    if (refund) seen.add(refund.id);
    if (isRepeated) return [{ object: refund.id, problem: `${what} once more` }];
    if (refund?.standing === 'returned')
      return moneyOf(refund) === moneyOf(money) && refund.capture_id === money.captureId
        ? []
        : [{ object: refund.id, problem: `${what}, recorded ${moneyOf(refund)} of ${refund.capture_id}` }];
    if (refund?.standing === 'open' || withoutRefund.has(money.captureId)) return [];
    const problem = refund ? `${what}, which refund ${refund.id} does not count` : `${what}, of which no refund knows`;
    return [{ object: money.id, problem }];
  });
}

function unreturned(returned: readonly FakeReturn[], { payments, refunds }: Recorded): Violation[] {
  const givenBack = new Set(returned.map(({ captureId }) => captureId));
  const missing = [
    ...payments.filter(({ is_returned, gateway_id }) => is_returned && !givenBack.has(gateway_id ?? '')),
    ...refunds.filter((refund) => refund.standing === 'returned' && !returned.some((money) => isOf(money, refund))),
  ];
  return missing.map((row) => ({ object: row.id, problem: `${moneyOf(row)} refunded, which was never given back` }));
}
