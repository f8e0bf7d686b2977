import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../faults/random.ts';
import { advanceTo, testPlatform } from '../../../support/billing.ts';
import { billedCustomer, countCalls, firstDraft, type Wire } from '../../invoice/invoice.fixture.ts';
import { type Digested, hoursAfter, linesPromised, linesShown } from './preview.fixture.ts';

const platform = await testPlatform();
const { api } = platform;
const seed = Number(process.env.PREVIEW_SEED ?? 20_261_122);
const random = seededRandom(seed);

interface Answer extends Digested {
  invoice: Wire;
}

const read = async (id: string) => (await api<Wire>('GET', `/invoices/${id}`)).body;
const edit = (id: string, how: 'preview' | 'execute', params: object, preview_digest?: string) =>
  api<Answer>('POST', `/invoices/${id}/modify/${how}`, {
    type: 'line_item',
    line_item_params: params,
    ...(preview_digest ? { preview_digest } : {}),
  });
const goodwill = { action: 'add', items: [{ display_name: 'Goodwill', amount: '-10', quantity: '1' }] };

/** An invoice of 30 in advance and some calls, final or not. */
async function billed(isFinal: boolean) {
  const customer = await billedCustomer(platform);
  await countCalls(api, customer, random.whole(20) + 1, '2026-02-01T00:00:00Z');
  const draft = await firstDraft(api, customer);
  if (isFinal) expect((await api('POST', `/invoices/${draft.id}/finalize`)).status).toBe(200);
  return { ...customer, invoice: await read(draft.id) };
}

const edits: ((invoice: Wire) => object)[] = [
  () => ({
    action: 'add',
    items: [{ display_name: 'Work', amount: String(random.whole(90_000) / 100 - 200), quantity: '2.5' }],
  }),
  ({ line_items: [line] }) => ({
    action: 'update',
    items: [{ line_item_id: line.id, amount: String(random.whole(9_000) / 100), display_name: 'Agreed' }],
  }),
  ({ line_items }) => ({ action: 'remove', line_item_ids: [line_items.at(-1).id] }),
];

const textOf = (invoice: Wire) => ({
  ...{
    status: invoice.invoice_status,
    total: invoice.total,
    due: invoice.amount_due,
    edited: invoice.is_manually_edited,
  },
  lines: linesShown([invoice]),
});

describe(`whatever edit of an invoice is previewed (seed ${seed})`, () => {
  const cases = edits.flatMap((asked, index) => [false, true].map((isFinal) => ({ index, isFinal, asked })));

  it.each(cases)('its execution is that, line by line: edit $index, final $isFinal', async ({ isFinal, asked }) => {
    const { invoice } = await billed(isFinal);
    const params = asked(invoice);
    const seen = await edit(invoice.id, 'preview', params);
    expect(seen.status, JSON.stringify(seen.body)).toBe(200);
    expect(await read(invoice.id)).toEqual(invoice);
    expect(linesPromised(seen.body.preview_digest)).toEqual(linesShown([seen.body.invoice]));
    const done = await edit(invoice.id, 'execute', params, seen.body.preview_digest);
    expect(done.status, JSON.stringify(done.body)).toBe(200);
    expect(done.body.preview_digest).toBeNull();
    expect(textOf(done.body.invoice)).toEqual(textOf(seen.body.invoice));
    const repeated = await edit(invoice.id, 'execute', params, seen.body.preview_digest);
    expect(repeated.status).toBeGreaterThanOrEqual(400);
  });
});

describe('what happens between the preview of an edit and its execution', () => {
  it.each<[string, string[], (made: Awaited<ReturnType<typeof billed>>) => Promise<unknown>]>([
    ['another edit', ['invoice', 'lines'], ({ invoice }) => edit(invoice.id, 'execute', goodwill)],
    [
      'other metadata',
      ['invoice'],
      ({ invoice }) => api('PUT', `/invoices/${invoice.id}`, { metadata: { order: '7' } }),
    ],
    ['the clock', ['clock'], ({ clockId }) => advanceTo(api, clockId, hoursAfter('2026-02-15T00:00:00Z', 1.5))],
  ])('%s makes it a conflict that tells it, and nothing is done', async (_name, told, disturb) => {
    const made = await billed(false);
    const { id } = made.invoice;
    const seen = await edit(id, 'preview', goodwill);
    await disturb(made);
    const before = await read(id);
    const refused = await edit(id, 'execute', goodwill, seen.body.preview_digest);
    expect([refused.status, refused.body.code], JSON.stringify(refused.body)).toEqual([409, 'version_conflict']);
    expect(Object.keys(refused.body.details!.difference).sort()).toEqual(told);
    expect(await read(id)).toEqual(before);
  });

  it('a payment of a final one makes it a conflict', async () => {
    const { invoice } = await billed(true);
    const seen = await edit(invoice.id, 'preview', goodwill);
    await api('PUT', `/invoices/${invoice.id}/payment`, { payment_status: 'SUCCEEDED' });
    const before = await read(invoice.id);
    const refused = await edit(invoice.id, 'execute', goodwill, seen.body.preview_digest);
    expect(refused).toMatchObject({ status: 409, body: { code: 'version_conflict' } });
    expect(refused.body.details!.difference).toHaveProperty('invoice');
    expect(await read(invoice.id)).toEqual(before);
  });

  it('another edit that is asked for is told as such', async () => {
    const { invoice } = await billed(false);
    const seen = await edit(invoice.id, 'preview', goodwill);
    const more = { action: 'add', items: [{ display_name: 'Goodwill', amount: '-11', quantity: '1' }] };
    const refused = await edit(invoice.id, 'execute', more, seen.body.preview_digest);
    expect(refused.status).toBe(409);
    expect(Object.keys(refused.body.details!.difference).sort()).toEqual(['lines', 'request']);
    expect(await edit(invoice.id, 'execute', more, 'none')).toMatchObject({ status: 400 });
  });
});
