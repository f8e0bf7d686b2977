import { z } from 'zod';
import type { NewInvoiceLine } from '../../billing/invoice/invoice-line-request.ts';
import type { GivenCommitmentInfo } from '../../billing/line/charge-commitment.ts';
import { badField } from '../../db/rows/record.ts';
import { decimalInput, metadataInput, timestampInput } from '../scalars.schema.ts';
import { commitmentDurations, refuseSmallFactor } from '../subscription/subscription-commitment.schema.ts';

const id = z.string().min(1).max(255);
const name = z.string().max(255);
const durations = [...commitmentDurations, 'ONETIME'] as const;

const commitmentInfo = z.object({
  type: z.enum(['amount', 'quantity']).nullish(),
  amount: decimalInput({ min: '0' }).nullish(),
  quantity: decimalInput({ min: '0' }).nullish(),
  overage_factor: decimalInput().nullish(),
  duration: z.enum(durations, { error: `must be one of ${durations.join(', ')}` }).nullish(),
  is_windowed: z.boolean().nullish(),
  true_up_enabled: z.boolean().nullish(),
  computed_commitment_utilized_amount: decimalInput({ min: '0' }).nullish(),
  computed_overage_amount: decimalInput({ min: '0' }).nullish(),
  computed_true_up_amount: decimalInput({ min: '0' }).nullish(),
});

/** A line as a caller gives it. spec: subscriptions-and-invoicing §1.11.1 */
const lineItem = z.object({
  amount: decimalInput(),
  quantity: decimalInput({ min: '0' }),
  display_name: name.nullish(),
  price_type: z.enum(['FIXED', 'USAGE']).nullish(),
  price_id: id.nullish(),
  price_unit: name.nullish(),
  price_unit_amount: decimalInput().nullish(),
  entity_type: name.nullish(),
  entity_id: id.nullish(),
  plan_id: id.nullish(),
  plan_display_name: name.nullish(),
  meter_id: id.nullish(),
  meter_display_name: name.nullish(),
  subscription_id: z
    .string()
    .max(255)
    .nullish()
    .describe("Whose charge the line is; the invoice's own subscription when absent."),
  subscription_line_item_id: id.nullish(),
  adjusted_entitlement_quantity: decimalInput().nullish(),
  period_start: timestampInput().nullish(),
  period_end: timestampInput().nullish(),
  commitment_info: commitmentInfo
    .nullish()
    .describe('Commitment that explains the amount; it is shown with the line and changes nothing.'),
  line_item_discount: decimalInput({ min: '0' })
    .nullish()
    .describe('What coupons of the line take off it; refused when they take off something else. `0` says nothing.'),
  invoice_level_discount: decimalInput({ min: '0' })
    .nullish()
    .describe('Its share of coupons on the whole invoice; refused when it is another. `0` says nothing.'),
  prepaid_credits_applied: decimalInput({ min: '0' })
    .nullish()
    .describe(
      'Credits that were applied to the line elsewhere, for an invoice that is brought in; no wallet is touched.',
    ),
  metadata: metadataInput().nullish(),
});

export const lineItemsInput = z.array(lineItem).max(1000);

/** The lines of a request as their store takes them. Throws `validation_error` for a commitment that contradicts itself. */
export function newInvoiceLines(lines: z.output<typeof lineItemsInput>): NewInvoiceLine[] {
  return lines.map((line, index) => ({
    displayName: line.display_name ?? null,
    amount: line.amount,
    quantity: line.quantity,
    priceType: line.price_type ?? null,
    priceId: line.price_id ?? null,
    priceUnit: line.price_unit ?? null,
    priceUnitAmount: line.price_unit_amount ?? null,
    entityType: line.entity_type ?? null,
    entityId: line.entity_id ?? null,
    planId: line.plan_id ?? null,
    planDisplayName: line.plan_display_name ?? null,
    meterId: line.meter_id ?? null,
    meterDisplayName: line.meter_display_name ?? null,
    subscriptionId: line.subscription_id || null,
    subscriptionLineItemId: line.subscription_line_item_id ?? null,
    adjustedEntitlementQuantity: line.adjusted_entitlement_quantity ?? null,
    periodStart: line.period_start ?? null,
    periodEnd: line.period_end ?? null,
    commitmentInfo: line.commitment_info ? commitmentOf(line.commitment_info, `line_items[${index}]`) : null,
    lineItemDiscount: notZero(line.line_item_discount),
    invoiceLevelDiscount: notZero(line.invoice_level_discount),
    prepaidCreditsApplied: notZero(line.prepaid_credits_applied),
    metadata: line.metadata ?? {},
  }));
}

/** Generated clients send 0 for what they do not mean. */
function notZero(amount: string | null | undefined): string | null {
  return !amount || Number(amount) === 0 ? null : amount;
}

/** Commitment of a line that was kept elsewhere: it explains the amount of the line and changes nothing. */
function commitmentOf(info: z.output<typeof commitmentInfo>, line: string): GivenCommitmentInfo | null {
  if (Object.values(info).every((value) => value === null || value === undefined || value === false)) return null;
  const amount = info.amount ?? null;
  const quantity = info.quantity ?? null;
  const field = (member: string) => `${line}.commitment_info.${member}`;
  if (amount !== null && quantity !== null) throw badField(field('quantity'), 'must be absent beside amount');
  const type = info.type ?? (quantity === null ? 'amount' : 'quantity');
  if ((type === 'amount' ? amount : quantity) === null) throw badField(field(type), `is required with type ${type}`);
  refuseSmallFactor(info.overage_factor ?? '1', field('overage_factor'));
  return {
    type,
    amount,
    quantity,
    overage_factor: info.overage_factor ?? '1',
    duration: info.duration ?? null,
    is_windowed: info.is_windowed ?? false,
    true_up_enabled: info.true_up_enabled ?? false,
    computed_commitment_utilized_amount: info.computed_commitment_utilized_amount ?? null,
    computed_overage_amount: info.computed_overage_amount ?? null,
    computed_true_up_amount: info.computed_true_up_amount ?? null,
  };
}
