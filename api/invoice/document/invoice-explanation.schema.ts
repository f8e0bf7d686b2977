import { z } from 'zod';
import { moneyText, shortInstant } from '../../../billing/explanation/explanation-text.ts';
import { explainDates, explainLine, explainNumber } from '../../../billing/explanation/invoice-explanation.ts';
import { explainTotals } from '../../../billing/explanation/invoice-total-explanation.ts';
import { decimal, decimalString } from '../../../billing/money/money.ts';
import type { InvoiceEvidence, LineEvidence } from '../../../services/invoice/document/invoice-explain.ts';
import { decimalOutput, timestampOutput } from '../../scalars.schema.ts';
import { explainedCredit, explainedDiscount, explainedTax, viewDeductions } from '../explained-deduction.schema.ts';
import { storedDates, storedInvoice, storedLine } from './invoice-evidence.ts';

const step = z.object({
  kind: z.string(),
  sentence: z.string(),
  amount: decimalOutput()
    .nullable()
    .describe('What the step adds, or what the amount is after it; null where it is about no money.'),
});

const lateUsage = z
  .object({
    event_count: z.int(),
    voided_count: z
      .int()
      .describe('Late corrections: events of the line that were voided after the invoice was final.'),
    quantity: decimalOutput().describe("What the meter's answer grew by, of both; below zero where they lowered it."),
  })
  .meta({ id: 'LateUsage' });

const explainedLine = z
  .object({
    line_item_id: z.string(),
    display_name: z.string(),
    price_id: z.string().nullable(),
    price_type: z.string().nullable(),
    period_start: timestampOutput().nullable(),
    period_end: timestampOutput().nullable(),
    quantity: decimalOutput(),
    amount: decimalOutput(),
    line_item_discount: decimalOutput(),
    invoice_level_discount: decimalOutput(),
    prepaid_credits_applied: decimalOutput(),
    late_usage: lateUsage
      .nullable()
      .describe('What arrived after the invoice was final, which is not billed; null for a fixed line and a draft.'),
    steps: z.array(step).describe('Why the line costs what it costs, a sentence for each step, in order.'),
    derivation: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('The same as data, as it was stored when the line was computed: price, usage, allowance, proration.'),
  })
  .meta({ id: 'ExplainedInvoiceLine' });

const explainedPayment = z
  .object({
    payment_id: z.string(),
    payment_status: z.string(),
    payment_method_type: z.string(),
    payment_gateway: z.string().nullable(),
    amount: decimalOutput(),
    sentence: z.string(),
    attempts: z.array(
      z.object({
        attempt_number: z.int(),
        payment_status: z.string(),
        error_message: z.string().nullable(),
        created_at: timestampOutput(),
      }),
    ),
  })
  .meta({ id: 'ExplainedPayment' });

const historyEntry = z
  .object({
    occurred_at: timestampOutput().describe("On the customer's clock."),
    recorded_at: timestampOutput().describe('In real time.'),
    object_type: z.string(),
    object_id: z.string(),
    action: z.string(),
    version: z.int().nullable(),
    actor: z.string(),
    request_id: z.string(),
    detail: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'InvoiceHistoryEntry' });

const example = {
  invoice_id: 'inv_01JCXYZ',
  invoice_number: 'INV-202602-00001',
  invoice_status: 'FINALIZED',
  payment_status: 'SUCCEEDED',
  billing_reason: 'SUBSCRIPTION_CYCLE',
  currency: 'usd',
  number:
    'INV-202602-00001 is the next number of its series without a gap, given in the transaction that finalized it.',
  lines: [
    {
      line_item_id: 'inv_line_01JCXYZ',
      display_name: 'Calls',
      price_id: 'price_01JCXYZ',
      price_type: 'USAGE',
      period_start: '2026-01-15T00:00:00.000Z',
      period_end: '2026-02-15T00:00:00.000Z',
      quantity: '12',
      amount: '1.2',
      line_item_discount: '0',
      invoice_level_discount: '0',
      prepaid_credits_applied: '0',
      late_usage: { event_count: 0, voided_count: 0, quantity: '0' },
      steps: [
        {
          kind: 'usage',
          sentence: 'Meter "Calls" measured 12 from … until …, counting every event received by ….',
          amount: null,
        },
        { kind: 'price', sentence: 'Flat fee: 12 × 0.10 = 1.20 usd.', amount: '1.2' },
        { kind: 'rounding', sentence: 'Rounded once, half away from zero, to 2 decimals: 1.20 usd.', amount: '1.2' },
      ],
      derivation: { version: 1, charge: 'usage', currency: 'usd', amount: '1.20', parts: [] },
    },
  ],
  late_usage: { event_count: 0, voided_count: 0 },
  discounts: [],
  taxes: [],
  credits: [],
  totals: [{ step: 'subtotal', amount: '1.2', sentence: 'The one line comes to 1.20 usd.' }],
  dates: [{ date: 'finalized_at', at: '2026-02-15T02:00:00.000Z', sentence: 'The invoice was finalized.' }],
  payments: [
    {
      payment_id: 'pay_01JCXYZ',
      payment_status: 'SUCCEEDED',
      payment_method_type: 'CARD',
      payment_gateway: 'sandbox',
      amount: '1.2',
      sentence: '1.20 usd by CARD at sandbox: SUCCEEDED at 2026-02-15T02:00:00Z.',
      attempts: [],
    },
  ],
  history: [
    {
      occurred_at: '2026-02-15T02:00:00.000Z',
      recorded_at: '2026-02-15T02:00:00.120Z',
      object_type: 'invoice',
      object_id: 'inv_01JCXYZ',
      action: 'finalized',
      version: 2,
      actor: 'system',
      request_id: '',
      detail: { invoice_number: 'INV-202602-00001' },
    },
  ],
};

/** How an invoice came to be what it is; read from what was stored, never computed again. Own operation. */
export const invoiceExplanation = z
  .object({
    invoice_id: z.string(),
    invoice_number: z.string().nullable(),
    invoice_status: z.string(),
    payment_status: z.string(),
    billing_reason: z.string(),
    currency: z.string(),
    number: z.string().describe('How the invoice got its number, or why it has none.'),
    lines: z.array(explainedLine),
    late_usage: z
      .object({ event_count: z.int(), voided_count: z.int() })
      .nullable()
      .describe('Of all lines; null until the invoice is final.'),
    discounts: z
      .array(explainedDiscount)
      .describe('Each coupon with what it was computed on, in order of application.'),
    taxes: z.array(explainedTax).describe('Each rate with what it was computed on, in order of application.'),
    credits: z.array(explainedCredit).describe('What prepaid wallets paid, in order of use.'),
    totals: z.array(z.object({ step: z.string(), amount: decimalOutput(), sentence: z.string() })),
    dates: z.array(z.object({ date: z.string(), at: timestampOutput(), sentence: z.string() })),
    payments: z.array(explainedPayment),
    history: z.array(historyEntry),
  })
  .meta({ id: 'InvoiceExplanation', examples: [example] });

export function viewInvoiceExplanation(evidence: InvoiceEvidence): z.output<typeof invoiceExplanation> {
  const { row } = evidence;
  const dates = storedDates(evidence);
  const late = evidence.lines.reduce((count, line) => count + (line.lateUsage?.eventCount ?? 0), 0);
  const voided = evidence.lines.reduce((count, line) => count + (line.lateUsage?.voidedCount ?? 0), 0);
  return {
    invoice_id: row.id,
    invoice_number: row.invoiceNumber ?? null,
    invoice_status: row.invoiceStatus,
    payment_status: row.paymentStatus,
    billing_reason: row.billingReason,
    currency: row.currency,
    number: explainNumber(dates),
    lines: evidence.lines.map((line) => viewLine(line, evidence)),
    late_usage: row.finalizedAt ? { event_count: late, voided_count: voided } : null,
    ...viewDeductions(evidence),
    totals: explainTotals(storedInvoice(evidence)),
    dates: explainDates(dates),
    payments: evidence.payments.map(viewPayment),
    history: evidence.history.map((entry) => ({
      occurred_at: entry.occurredAt,
      recorded_at: entry.recordedAt,
      object_type: entry.objectType,
      object_id: entry.objectId,
      action: entry.action,
      version: entry.version ?? null,
      actor: entry.actor,
      request_id: entry.requestId,
      detail: entry.detail,
    })),
  };
}

function viewLine(line: LineEvidence, evidence: InvoiceEvidence): z.output<typeof explainedLine> {
  const { row, lateUsage: late } = line;
  const steps = explainLine(storedLine(line, evidence));
  return {
    line_item_id: row.id,
    display_name: row.displayName,
    price_id: row.priceId ?? null,
    price_type: row.priceType ?? null,
    period_start: row.periodStart ?? null,
    period_end: row.periodEnd ?? null,
    quantity: row.quantity,
    amount: row.amount,
    line_item_discount: row.lineItemDiscount,
    invoice_level_discount: row.invoiceLevelDiscount,
    prepaid_credits_applied: row.prepaidCreditsApplied,
    late_usage: late && { event_count: late.eventCount, voided_count: late.voidedCount, quantity: late.quantity },
    steps: steps.map(({ kind, sentence, amount }) => ({
      kind,
      sentence,
      amount: amount === undefined ? null : decimalString(decimal(amount)),
    })),
    derivation: row.derivation ?? null,
  };
}

function viewPayment({ row, attempts }: InvoiceEvidence['payments'][number]): z.output<typeof explainedPayment> {
  const by = row.paymentGateway === null ? row.paymentMethodType : `${row.paymentMethodType} at ${row.paymentGateway}`;
  const at = row.succeededAt ?? row.failedAt ?? null;
  const when = at === null ? '' : ` at ${shortInstant(at)}`;
  const because = row.errorMessage ? `: ${row.errorMessage}` : '';
  return {
    payment_id: row.id,
    payment_status: row.paymentStatus,
    payment_method_type: row.paymentMethodType,
    payment_gateway: row.paymentGateway ?? null,
    amount: row.amount,
    sentence: `${moneyText(row.amount, row.currency)} by ${by}: ${row.paymentStatus}${when}${because}.`,
    attempts: attempts.map((attempt) => ({
      attempt_number: attempt.attemptNumber,
      payment_status: attempt.paymentStatus,
      error_message: attempt.errorMessage ?? null,
      created_at: attempt.createdAt,
    })),
  };
}
