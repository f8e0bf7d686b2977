import { advanceClock } from '../../bench/account.ts';
import { sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import { personal } from './personal.ts';
import { draftOf, onClock, type Stage } from './stage.ts';

/** One draft is finalized and paid, the next is voided. */
export async function invoicesByHand(stage: Stage, boundary: string): Promise<void> {
  const { api } = stage.platform;
  const { clockId, subscriptionId, customerId } = await onClock(stage, {});
  await advanceClock(api, clockId, boundary);
  const first = await draftOf(stage, subscriptionId);
  await api('POST', `/invoices/${first}/finalize`);
  const card = { gateway: 'sandbox', card_number: sandboxCardNumber('succeeds'), set_default: true };
  await api('POST', `/customers/${customerId}/payment-methods`, card);
  await api('POST', `/invoices/${first}/payment/attempt`);
  await advanceClock(api, clockId, '2026-03-15T00:00:00Z');
  await api('POST', `/invoices/${await draftOf(stage, subscriptionId)}/void`, { metadata: { note: personal.note } });
}

/** A one-off invoice that is edited, refused an edit and settled by hand, and a draft that is computed, issued and made again. */
export async function invoicesMade(stage: Stage): Promise<void> {
  const { api } = stage.platform;
  const { clockId, subscriptionId, customerId } = await onClock(stage, {});
  const { amount, note, text } = personal;
  const oneOff = { customer_id: customerId, currency: 'usd', subtotal: amount, total: amount, amount_due: amount };
  const { id } = await api('POST', '/invoices', oneOff);
  const items = [{ display_name: text, amount, quantity: '1', metadata: { note } }];
  await api('POST', `/invoices/${id}/modify/execute`, {
    type: 'line_item',
    line_item_params: { action: 'add', items },
  });
  const unknown = { type: 'line_item', line_item_params: { action: 'remove', line_item_ids: [note] } };
  await api('POST', `/invoices/${id}/modify/execute`, unknown).catch(() => undefined);
  const other = await api('POST', '/invoices', { ...oneOff, description: text });
  await api('PUT', `/invoices/${other.id}/payment`, { payment_status: 'SUCCEEDED', amount });
  await advanceClock(api, clockId, '2026-02-15T00:00:00Z');
  const draft = await draftOf(stage, subscriptionId);
  await api('POST', `/invoices/${draft}/compute`, { description: text });
  await api('POST', `/invoices/${draft}/compute`);
  await api('POST', `/invoices/${draft}/recalculate-v2?finalize=true`);
  await api('POST', `/invoices/${draft}/recalculate`);
  await advanceClock(api, clockId, '2026-02-15T03:00:00Z');
}
