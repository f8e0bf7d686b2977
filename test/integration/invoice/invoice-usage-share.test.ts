import { describe, expect, it } from 'vitest';
import { created, testPlatform } from '../../support/billing.ts';
import { billedCustomer, firstDraft, type Wire } from './invoice.fixture.ts';

const platform = await testPlatform();
const { api } = platform;

const customer = await billedCustomer(platform);
const used = (source: string, team: string | null, count: number, timestamp = '2026-02-01T00:00:00Z') =>
  Array.from({ length: count }, (_, index) => ({
    ...{ event_id: `${source}-${team}-${timestamp}-${index}`, event_name: customer.eventName, source, timestamp },
    external_customer_id: customer.externalId,
    properties: team === null ? {} : { team },
  }));
await created(api, '/events/bulk', {
  events: [...used('web', 'red', 5), ...used('web', 'blue', 4), ...used('app', 'red', 3), ...used('app', null, 1)],
});
const { id } = await firstDraft(api, customer);
const { body: meterless } = await api<Wire>('GET', `/invoices/${id}`);

const read = async (query: string) => (await api<Wire>('GET', `/invoices/${id}?${query}`)).body;
const linesOf = ({ line_items }: Wire) => ({
  fixed: line_items.find((line: Wire) => line.price_type === 'FIXED'),
  usage: line_items.find((line: Wire) => line.price_type === 'USAGE'),
});

describe('the usage of an invoice line', () => {
  it('is not taken apart unless somebody asks', () => {
    const { fixed, usage } = linesOf(meterless);
    for (const line of [fixed, usage]) expect(line).toMatchObject({ usage_analytics: null, usage_breakdown: null });
  });

  it('is told by source, the most used first, with shares of the amount that add up to it', async () => {
    const { fixed, usage } = linesOf(await read('expand_by_source=true'));
    expect(fixed.usage_analytics).toBeNull();
    expect(usage.amount).toBe('1.3');
    expect(usage.usage_analytics).toEqual([
      { source: 'web', usage: '9', event_count: 9, percentage: '69.23', cost: '0.9' },
      { source: 'app', usage: '4', event_count: 4, percentage: '30.77', cost: '0.4' },
    ]);
    expect(usage.usage_breakdown).toBeNull();
  });

  it('is told by properties, by source beside them, by its meter and its feature', async () => {
    const { usage } = linesOf(await read('group_by=properties.team&group_by=source'));
    const groups = usage.usage_breakdown.map((row: Wire) => [row.grouped_by, row.usage, row.cost]);
    expect(groups).toEqual([
      [{ 'properties.team': 'red', source: 'web' }, '5', '0.5'],
      [{ 'properties.team': 'blue', source: 'web' }, '4', '0.4'],
      [{ 'properties.team': 'red', source: 'app' }, '3', '0.3'],
      [{ 'properties.team': '', source: 'app' }, '1', '0.1'],
    ]);
    expect(usage.usage_analytics).toBeNull();
    const { usage: whole } = linesOf(await read('group_by=meter_id,feature_id'));
    expect(whole.usage_breakdown).toEqual([
      {
        grouped_by: { meter_id: whole.meter_id, feature_id: expect.stringMatching(/^feat_/) },
        ...{ usage: '13', event_count: 13, percentage: '100', cost: '1.3' },
      },
    ]);
  });

  it('is refused by a name that usage cannot be grouped by', async () => {
    const answer = await api<Wire>('GET', `/invoices/${id}?group_by=colour`);
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(answer.body.message).toContain('group_by');
  });

  it('is what is known now: what came after the invoice was final has a share, and the amount stays', async () => {
    await api('POST', `/invoices/${id}/finalize`);
    await created(api, '/events/bulk', { events: used('late', 'red', 13, '2026-02-02T00:00:00Z') });
    const { usage } = linesOf(await read('expand_by_source=true'));
    expect(usage.amount).toBe('1.3');
    expect(usage.usage_analytics.map((row: Wire) => [row.source, row.usage, row.cost])).toEqual([
      ['late', '13', '0.65'],
      ['web', '9', '0.45'],
      ['app', '4', '0.2'],
    ]);
  });
});
