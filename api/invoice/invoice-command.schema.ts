import { z } from 'zod';
import type { LineEdit } from '../../billing/invoice/invoice-edit.ts';
import { badField } from '../../db/rows/record.ts';
import { optionalDigestOutput, previewDigestInput } from '../preview-digest.schema.ts';
import { booleanQuery, decimalInput, metadataInput, timestampInput } from '../scalars.schema.ts';
import { invoice, invoicePaymentStatus } from './invoice.schema.ts';

const id = z.string().min(1).max(255);
const name = z.string().min(1).max(255);

const item = z.object({
  line_item_id: id.nullish().describe('The line to update.'),
  id: id.nullish().describe('Another name of line_item_id.'),
  display_name: name.nullish(),
  amount: decimalInput().nullish(),
  quantity: decimalInput({ min: '0' }).nullish(),
  price_type: z.literal('FIXED').nullish(),
  period_start: timestampInput().nullish(),
  period_end: timestampInput().nullish(),
  metadata: metadataInput().nullish(),
});

const several = <Item extends z.ZodType>(shape: Item) => z.array(shape).min(1).max(100);

export const modifyInvoiceBody = z
  .object({
    type: z.literal('line_item', 'must be line_item'),
    line_item_params: z.object({
      action: z.enum(['add', 'update', 'remove']),
      items: several(item).nullish(),
      line_item_ids: several(id).nullish(),
    }),
    preview_digest: previewDigestInput,
  })
  .meta({
    examples: [
      {
        type: 'line_item',
        line_item_params: { action: 'add', items: [{ display_name: 'Goodwill', amount: '-10', quantity: '1' }] },
      },
    ],
  });

/** The edit a body asks for. Throws `validation_error` naming what its action lacks. spec: subscriptions-and-invoicing §1.11.2 */
export function lineEditOf({ line_item_params: params }: z.output<typeof modifyInvoiceBody>): LineEdit {
  const { action, items, line_item_ids: ids } = params;
  if (action === 'remove') {
    if (!ids) throw badField('line_item_params.line_item_ids', 'is required with action remove');
    return { action, lineItemIds: ids };
  }
  if (!items) throw badField('line_item_params.items', `is required with action ${action}`);
  return action === 'add' ? { action, items: items.map(addedLine) } : { action, items: items.map(updatedLine) };
}

type Item = z.output<typeof item>;

function addedLine(line: Item, index: number) {
  const field = `line_item_params.items[${index}]`;
  return {
    displayName: required(line.display_name, `${field}.display_name`),
    amount: required(line.amount, `${field}.amount`),
    quantity: required(line.quantity, `${field}.quantity`),
    metadata: line.metadata ?? {},
    periodStart: line.period_start ?? null,
    periodEnd: line.period_end ?? null,
  };
}

function updatedLine(line: Item, index: number) {
  const field = `line_item_params.items[${index}].line_item_id`;
  return {
    lineItemId: required(line.line_item_id ?? line.id, field),
    displayName: line.display_name ?? null,
    amount: line.amount ?? null,
    quantity: line.quantity ?? null,
    metadata: line.metadata ?? null,
    field,
  };
}

function required(value: string | null | undefined, field: string): string {
  if (value === null || value === undefined) throw badField(field, 'is required');
  return value;
}

export const modifiedInvoice = z
  .object({ invoice, preview_digest: optionalDigestOutput })
  .meta({ id: 'InvoiceModification' });
export const computedInvoice = z.object({ invoice, skipped: z.boolean() }).meta({ id: 'ComputedInvoice' });
export const recalculatedInvoice = invoice
  .extend({ workflow_id: z.string(), run_id: z.string(), message: z.string() })
  .meta({ id: 'RecalculatedInvoice' });

export const recalculateQuery = z.object({ finalize: booleanQuery().optional() });

export const notePaymentBody = z
  .object({ payment_status: invoicePaymentStatus, amount: decimalInput().nullish() })
  .meta({ examples: [{ payment_status: 'SUCCEEDED' }] });

/** Events that may be sent again, and what an invoice must be for each. spec: subscriptions-and-invoicing §1.11 */
export const invoiceEventName = z.enum([
  'invoice.update.finalized',
  'invoice.update.payment',
  'invoice.update.voided',
  'invoice.communication.triggered',
]);

/** The event may be named in either; the query string is the published place. spec: platform §17 */
export const triggerEventBody = z
  .object({ event_name: invoiceEventName.nullish() })
  .meta({ examples: [{ event_name: 'invoice.update.finalized' }] })
  .nullish();
export const triggerEventQuery = z.object({ event_name: invoiceEventName.optional() });

export const triggeredEvent = z
  .object({ message: z.string(), event_name: invoiceEventName })
  .meta({ id: 'InvoiceWebhookTriggerResponse' });
