import { describe, expect, it } from 'vitest';
import { testPlatform } from '../../support/billing.ts';
import type { Wire } from './invoice.fixture.ts';
import { goodwill, invoiceEdits } from './invoice-edit.fixture.ts';

const { api } = await testPlatform();

const { read, edit, oneOff } = invoiceEdits(api);

/** Each operation, the state that forbids it, and its refusal. spec: subscriptions-and-invoicing §3 */
describe('what is refused', () => {
  const states = {
    draft: () => oneOff({ invoice_status: 'DRAFT' }),
    final: () => oneOff(),
    edited: async () => (await edit((await oneOff()).id, goodwill)).body.invoice as Wire,
    voided: async () => {
      const invoice = await oneOff();
      await api('POST', `/invoices/${invoice.id}/void`);
      return invoice;
    },
  };
  const cases: [keyof typeof states, 'POST' | 'PUT', string, unknown, string][] = [
    ['final', 'POST', 'compute', undefined, 'FINALIZED'],
    ['voided', 'POST', 'compute', undefined, 'VOIDED'],
    ['edited', 'POST', 'compute', undefined, 'edited by hand'],
    ['final', 'POST', 'finalize', undefined, 'FINALIZED'],
    ['voided', 'POST', 'finalize', undefined, 'VOIDED'],
    ['voided', 'POST', 'void', undefined, 'VOIDED'],
    ['voided', 'POST', 'modify/execute', { type: 'line_item', line_item_params: goodwill }, 'VOIDED'],
    ['voided', 'POST', 'modify/preview', { type: 'line_item', line_item_params: goodwill }, 'VOIDED'],
    ['voided', 'PUT', '', { apply_discount: true }, 'VOIDED'],
    ['final', 'POST', 'recalculate', undefined, 'ONE_OFF'],
    ['final', 'POST', 'recalculate-v2', undefined, 'FINALIZED'],
    ['voided', 'PUT', 'payment', { payment_status: 'SUCCEEDED' }, 'VOIDED'],
    ['final', 'PUT', 'payment', { payment_status: 'REFUNDED' }, 'payment_status'],
    ['final', 'PUT', 'payment', { payment_status: 'PENDING', amount: '100' }, 'amount'],
    ['final', 'PUT', 'payment', { payment_status: 'PENDING', amount: '-1' }, 'amount'],
    ['final', 'PUT', 'payment', { payment_status: 'OVERPAID', amount: '100' }, 'amount'],
    ['draft', 'POST', 'payment/attempt', undefined, 'DRAFT'],
    ['draft', 'POST', 'comms/trigger', undefined, 'DRAFT'],
    ['draft', 'POST', 'webhook/trigger', { event_name: 'invoice.update.finalized' }, 'DRAFT'],
    ['final', 'POST', 'webhook/trigger', { event_name: 'invoice.update.voided' }, 'FINALIZED'],
    ['final', 'POST', 'webhook/trigger', { event_name: 'invoice.update' }, 'event_name'],
    ['draft', 'POST', 'modify/execute', { type: 'line_item', line_item_params: { action: 'add' } }, 'items'],
    ['draft', 'POST', 'modify/execute', { type: 'line_item', line_item_params: { action: 'add', items: [] } }, 'items'],
    ['draft', 'POST', 'modify/execute', { type: 'line_item', line_item_params: { action: 'remove' } }, 'line_item_ids'],
    ['draft', 'POST', 'modify/execute', { type: 'tax', line_item_params: goodwill }, 'type'],
    [
      'draft',
      'POST',
      'modify/execute',
      { type: 'line_item', line_item_params: { action: 'add', items: [{ display_name: 'x', amount: '1' }] } },
      'items[0].quantity',
    ],
  ];
  it.each(cases)('%s: %s %s %j', async (state, method, path, body, named) => {
    const invoice = await states[state]();
    const before = await read(invoice.id);
    const answer = await api<Wire>(method, `/invoices/${invoice.id}${path === '' ? '' : `/${path}`}`, body);
    expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(answer.body.message).toContain(named);
    expect(await read(invoice.id)).toEqual(before);
  });

  it('of an invoice nobody made is not found', async () => {
    const asked = ['compute', 'recalculate', 'recalculate-v2', 'comms/trigger', 'void', 'finalize'];
    for (const path of asked) {
      expect(await api('POST', `/invoices/inv_none/${path}`), path).toMatchObject({ status: 404 });
    }
    expect(await edit('inv_none', goodwill)).toMatchObject({ status: 404 });
    expect(await api('PUT', '/invoices/inv_none/payment', { payment_status: 'SUCCEEDED' })).toMatchObject({
      status: 404,
    });
  });
});
