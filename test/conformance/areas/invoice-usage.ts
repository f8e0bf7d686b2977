import { expect } from 'vitest';
import { type AreaCalls, type Conversation, present } from '../conversation.ts';

/** The usage on an invoice taken apart, as the client asks for it: by source, and by what events say. */
export function invoiceUsageCalls({ client, made }: Conversation): Record<string, AreaCalls> {
  const all = { usage: '220.5', eventCount: 2, percentage: '100', cost: '3.71' };
  const usageLine = async (bySource?: boolean, groupBy?: string[]) => {
    const { items } = await client.invoices.queryInvoice({ subscriptionId: made.subscriptionId });
    const cycle = present(items).find(({ billingReason }) => billingReason === 'SUBSCRIPTION_CYCLE');
    const { lineItems } = await client.invoices.getInvoice(present(cycle?.id), bySource, groupBy);
    const line = present(lineItems).find(({ priceType }) => priceType === 'USAGE');
    expect(line).toMatchObject({ amount: '3.71' });
    return present(line);
  };
  const calls: AreaCalls = {
    async 'getInvoice with expandBySource'() {
      const line = await usageLine(true);
      expect(line.usageAnalytics).toEqual([expect.objectContaining({ source: 'conformance', ...all })]);
      expect(line.usageBreakdown ?? []).toEqual([]);
    },
    async 'getInvoice with groupBy'() {
      const line = await usageLine(undefined, ['source', 'properties.region']);
      const groupedBy = { source: 'conformance', 'properties.region': 'eu' };
      expect(line.usageBreakdown).toEqual([expect.objectContaining({ groupedBy, ...all })]);
      expect(line.usageAnalytics ?? []).toEqual([]);
    },
  };
  return { 'invoice usage': calls };
}
