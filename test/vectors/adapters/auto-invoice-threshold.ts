import { effectiveThreshold, thresholdOutcome } from '../../../billing/line/intermediate-invoice.ts';
import { type Adapters, type Given, instant, text } from '../adapter.ts';

function autoInvoiceThreshold(given: Given) {
  const period = { start: instant(given.current_period_start), end: instant(given.current_period_end) };
  const threshold = effectiveThreshold(text(given.subscription_threshold), text(given.plan_threshold));
  const outcome = thresholdOutcome({
    threshold,
    usageAmount: String(given.usage_amount),
    period,
    now: instant(given.now),
  });
  const current = outcome.isReached ? outcome.rest : period;
  return {
    effective_threshold: threshold,
    invoice_created: outcome.isReached,
    current_period_start: current.start,
    current_period_end: current.end,
    ...(outcome.isReached
      ? {
          billing_reason: 'AUTO_INVOICE_THRESHOLD',
          invoice_period_start: outcome.invoiced.start,
          invoice_period_end: outcome.invoiced.end,
        }
      : {}),
  };
}

export const autoInvoiceThresholdAdapters: Adapters = { auto_invoice_threshold: autoInvoiceThreshold };
