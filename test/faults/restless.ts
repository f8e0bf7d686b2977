import { ApiProblem, type DemoClient } from '../../dev/demo/client.ts';

const conflict = 409;

interface Restless {
  subscriptionId: string;
}

/**
 * What the restless customer asks for between the stops of its clock, by the number of the stop: each is a command that a kill
 * may interrupt anywhere, and that is asked again until it is answered.
 */
const requests: Record<number, (api: DemoClient, restless: Restless) => Promise<unknown>> = {
  0: async (api, { subscriptionId }) => {
    await creditOpeningInvoice(api, subscriptionId);
    await readRawEventsAgain(api);
  },
  1: (api, { subscriptionId }) => api.send('POST', `/subscriptions/${subscriptionId}/pause`, { reason: 'winter' }),
  2: (api, { subscriptionId }) => api.send('POST', `/subscriptions/${subscriptionId}/resume`, {}),
  4: (api, { subscriptionId }) =>
    api.send('POST', `/subscriptions/${subscriptionId}/cancel`, { cancellation_type: 'end_of_period' }),
};

/** Has the restless customer ask for what it wants at a stop, if anything. */
export async function actAtStop(api: DemoClient, stop: number, restless: Restless): Promise<void> {
  await requests[stop]?.(api, restless);
}

/** A cent goes back to the card that paid. */
async function creditOpeningInvoice(api: DemoClient, subscriptionId: string): Promise<void> {
  const { items } = await api.send<{ items: { id: string }[] }>('GET', `/invoices?subscription_id=${subscriptionId}`);
  const invoice = await api.send<{ id: string; line_items: { id: string; amount: string }[] }>(
    'GET',
    `/invoices/${items.at(-1)!.id}`,
  );
  const line = invoice.line_items.find(({ amount }) => amount !== '0')!;
  await api.send('POST', '/creditnotes', {
    invoice_id: invoice.id,
    reason: 'SERVICE_ISSUE',
    refund_target: 'BACK_TO_SOURCE',
    line_items: [{ invoice_line_item_id: line.id, amount: '0.01' }],
  });
}

/** Events that no mapping can read: they are looked at again, and stay as they are. */
async function readRawEventsAgain(api: DemoClient): Promise<void> {
  const events = Array.from({ length: 5 }, (_, index) => ({ kind: 'note', text: `number ${index}` }));
  await api.send('POST', '/events/raw/bulk', { events });
  await api.send('POST', '/events/raw/reprocess/all', { start_date: '2001-01-01T00:00:00Z' }).catch((error) => {
    // The customer of the other lane has them read at this moment.
    if (!(error instanceof ApiProblem && error.status === conflict)) throw error;
  });
}
