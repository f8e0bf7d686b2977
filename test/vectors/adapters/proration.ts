import { prorate, prorationShare, shareText } from '../../../billing/line/proration.ts';
import { decimal } from '../../../billing/money/money.ts';
import { type Adapters, type Given, instant, text } from '../adapter.ts';

function periodOf(given: Given) {
  return {
    period: { start: instant(given.period_start), end: instant(given.period_end) },
    effectiveAt: instant(given.effective_at),
    timezone: given.timezone || 'UTC',
  };
}

function coefficient(given: Given): unknown {
  const of = (strategy: 'second_based' | 'day_based') => shareText(prorationShare({ ...periodOf(given), strategy }));
  return { second_based: of('second_based'), day_based: of('day_based') };
}

function proration(given: Given): unknown {
  const cost = (side: Given) => (side ? decimal(side.unit_amount).times(side.quantity) : null);
  const billed = text(given.amount_billed);
  const { share, ...amounts } = prorate({
    ...periodOf(given),
    action: given.action,
    behavior: given.proration_behavior,
    currency: given.currency,
    strategy: given.strategy ?? 'second_based',
    invoiceCadence: given.invoice_cadence,
    oldCost: cost(given.old),
    newCost: cost(given.new),
    amountBilled: billed === null ? null : decimal(billed),
    creditsIssued: decimal(given.credits_issued ?? '0'),
  });
  return { coefficient: shareText(share), ...amounts };
}

export const prorationAdapters: Adapters = { proration_coefficient: coefficient, proration };
