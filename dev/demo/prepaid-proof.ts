import { type Decimal, decimal, sum } from '../../billing/money/money.ts';
import type { PrepaidCustomer } from './prepaid-result.ts';

/** A statement about the money of a run, and those of whom it is not true. */
export interface Claim {
  statement: string;
  broken: string[];
}

/** Tokens that a cent buys. */
const tokensACent = 500;

/** What a customer used, from its tokens alone: whole cents, as integers. */
export function usedCents({ uses }: Pick<PrepaidCustomer, 'uses'>): bigint {
  return BigInt(uses.reduce((total, { tokens }) => total + tokens, 0)) / BigInt(tokensACent);
}

/** Money that top-ups of a customer took. */
export function captured({ payments }: Pick<PrepaidCustomer, 'payments'>): Decimal {
  return sum(
    payments.filter(({ payment_status }) => payment_status === 'SUCCEEDED').map(({ amount }) => decimal(amount)),
  );
}

/** Credits that came or went for some reasons, in completed entries of the ledger. */
export function credits({ ledger }: Pick<PrepaidCustomer, 'ledger'>, ...reasons: string[]): Decimal {
  const entries = ledger.filter(
    ({ transaction_status, transaction_reason }) =>
      transaction_status === 'completed' && reasons.includes(transaction_reason),
  );
  return sum(entries.map(({ credit_amount }) => decimal(credit_amount)));
}

const usageTotal = ({ invoices }: PrepaidCustomer) =>
  sum(invoices.flatMap(({ line_items }) => line_items.map((line) => decimal(line.amount))));
const unpaid = ({ invoices }: PrepaidCustomer) => sum(invoices.map((invoice) => decimal(invoice.amount_remaining)));

const claims: [string, (customer: PrepaidCustomer) => boolean][] = [
  [
    'the tokens used cost what is billed, to the cent',
    (customer) => usageTotal(customer).equals(decimal(String(usedCents(customer))).dividedBy(100)),
  ],
  [
    'of what is billed credits paid a part, and the rest is still due',
    (customer) => usageTotal(customer).equals(credits(customer, 'CREDIT_ADJUSTMENT').plus(unpaid(customer))),
  ],
  [
    'credits bought are the money taken from cards, one for one',
    (customer) => captured(customer).equals(credits(customer, 'PURCHASED_CREDIT_INVOICED')),
  ],
  [
    'credits given and bought are those used and those left',
    (customer) =>
      credits(customer, 'FREE_CREDIT_GRANT', 'PURCHASED_CREDIT_INVOICED').equals(
        credits(customer, 'CREDIT_ADJUSTMENT').plus(customer.wallet.credit_balance),
      ),
  ],
  [
    'every attempt ended in credits and a paid invoice, or in neither and a void one, or is the one that waits',
    (customer) => customer.attempts.every((attempt) => endsRight(customer, attempt)),
  ],
  [
    'no wallet has two attempts under way',
    ({ attempts }) => attempts.filter(({ outcome }) => outcome === null).length <= 1,
  ],
];

function endsRight(
  { ledger, topUpInvoices }: PrepaidCustomer,
  { outcome, wallet_transaction_id, invoice_id }: PrepaidCustomer['attempts'][number],
): boolean {
  const purchase = ledger.find(({ id }) => id === wallet_transaction_id)?.transaction_status;
  const invoice = topUpInvoices.find(({ id }) => id === invoice_id);
  if (outcome === 'succeeded') return purchase === 'completed' && invoice?.payment_status === 'SUCCEEDED';
  if (outcome === null) return purchase === 'pending' && invoice?.invoice_status === 'FINALIZED';
  return purchase === 'failed' && invoice?.invoice_status === 'VOIDED';
}

/** Checks the money of every customer with arithmetic of its own. */
export function proveMoney(customers: readonly PrepaidCustomer[]): Claim[] {
  return claims.map(([statement, holds]) => ({
    statement,
    broken: customers.filter((customer) => !holds(customer)).map(({ name }) => name),
  }));
}
