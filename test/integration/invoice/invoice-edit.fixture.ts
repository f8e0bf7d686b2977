import type { Api } from '../../support/app.ts';
import { clockedCustomer, created } from '../../support/billing.ts';
import type { Wire } from './invoice.fixture.ts';

/** A line that an edit adds. */
export const goodwill = { action: 'add', items: [{ display_name: 'Goodwill', amount: '-10', quantity: '1' }] };

/** One-off invoices, edits of their lines, and how an invoice stands. */
export function invoiceEdits(api: Api) {
  const read = async (id: string) => (await api<Wire>('GET', `/invoices/${id}`)).body;

  const edit = (id: string, params: Record<string, unknown>, how = 'execute') =>
    api<Wire>('POST', `/invoices/${id}/modify/${how}`, { type: 'line_item', line_item_params: params });

  async function oneOff(more: Record<string, unknown> = {}): Promise<Wire> {
    const { customerId } = await clockedCustomer(api, { frozenTime: '2026-02-01T00:00:00Z' });
    return created<Wire>(api, '/invoices', {
      customer_id: customerId,
      currency: 'usd',
      subtotal: '100',
      total: '100',
      amount_due: '100',
      ...more,
    });
  }
  return { read, edit, oneOff };
}
