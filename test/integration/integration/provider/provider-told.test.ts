import { describe, expect, test } from 'vitest';
import { inSqlTransaction } from '../../../../db/transaction.ts';
import { payPage as payChargebee } from '../../../../dev/provider-fakes/chargebee/payment.ts';
import { payInvoice as payMoyasar } from '../../../../dev/provider-fakes/moyasar/payment.ts';
import { payCheckout as payNomod } from '../../../../dev/provider-fakes/nomod/payment.ts';
import { payTransaction as payPaddle } from '../../../../dev/provider-fakes/paddle/payment.ts';
import { payLink as payRazorpay } from '../../../../dev/provider-fakes/razorpay/payment.ts';
import { paySession as payStripe } from '../../../../dev/provider-fakes/stripe/payment.ts';
import { payPage as payWhop } from '../../../../dev/provider-fakes/whop/payment.ts';
import { sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { createSandbox } from '../../../../services/platform/tenant.ts';
import { testApp } from '../../../support/app.ts';
import { testDatabase } from '../../../support/database.ts';
import { testTemporal } from '../../../support/temporal.ts';
import { startWorkers } from '../../../support/worker.ts';
import { type Body, customerOf, invoiceOf, readSession } from '../../payment/checkout/checkout.fixture.ts';
import { type InboxRow, inboxOf } from '../provider-inbox.fixture.ts';
import { everyProvider } from './every-provider.fixture.ts';
import { type Sender, senders } from './notification-senders.fixture.ts';

const { fakes, providers } = await everyProvider();
const base = await testDatabase({ fakes });
const temporal = await testTemporal();
const { app, api, gateway } = await testApp(base, temporal, { providers });
await startWorkers(base, temporal, { gateway, providers });
const other = await createSandbox(base.database, { tenantName: 'Other' });

const { chargebee, moyasar, nomod, paddle, razorpay, stripe, whop } = fakes;
const card = sandboxCardNumber('succeeds');

/** Accounts at the fakes, and how a payer pays a page there. */
const accounts: Record<string, { currency: string; captures(): unknown[]; pay(pageId: string): unknown }> = {
  chargebee: accountOf(chargebee.booksOf('test_table'), 'usd', payChargebee),
  moyasar: accountOf(moyasar.booksOf('sk_test_table'), 'sar', payMoyasar),
  nomod: accountOf(nomod.booksOf('sk_test_table'), 'aed', payNomod),
  paddle: accountOf(paddle.booksOf('pdl_sdbx_apikey_table'), 'usd', payPaddle),
  razorpay: accountOf(razorpay.booksOf('rzp_test_table'), 'inr', payRazorpay),
  stripe: accountOf(stripe.booksOf('sk_test_table'), 'usd', payStripe),
  whop: accountOf(whop.booksOf('biz_table'), 'usd', payWhop),
};

function accountOf<Books extends { captures(): unknown[] }>(
  books: Books,
  currency: string,
  pay: (books: Books, pageId: string, cardNumber: string) => unknown,
) {
  return { currency, captures: () => books.captures(), pay: (pageId: string) => pay(books, pageId, card) };
}

/** An event as its provider sends it: the id, and the object that becomes the bytes. */
interface Told {
  id: string;
  body: object;
}

let copies = 0;
const copyId = () => {
  copies += 1;
  return `evt_copy_${copies}`;
};

/** A provider whose account tells of what happens to pages of ours, and nobody hears it but this file. */
async function teller(sender: Sender) {
  const { provider, keys, secretsOf, sign, idMember } = sender;
  const { currency, captures, pay } = accounts[provider]!;
  const told: Told[] = [];
  // biome-ignore lint/suspicious/noExplicitAny: events of seven providers
  (fakes[provider as 'stripe'] as any).onEvent((_: string, event: any) => {
    told.push({ id: event.messageId ?? event.event_id ?? event.id, body: structuredClone(event.body ?? event) });
  });
  const connect = (apiKey: string, name: string) =>
    api<Body>(
      'POST',
      '/connections',
      { name: provider, provider_type: provider, encrypted_secret_data: { ...keys, ...secretsOf(name) } },
      { 'x-api-key': apiKey },
    );
  expect((await connect(base.apiKey, 'first')).status).toBe(201);

  return {
    provider,
    captures,
    connect,
    /** The session of an invoice of 25 whose page is open. */
    async opened(): Promise<Body> {
      const checkout = { payment_provider: provider, success_url: 'https://shop.example/thanks' };
      const customer = await customerOf(api, { email: 'payer@example.com', contact: '+919876543210' });
      const terms = invoiceOf(customer.id, '25', { currency, checkout });
      const { status, body } = await api<Body>('POST', '/invoices', terms);
      expect(status, JSON.stringify(body)).toBe(201);
      return body.checkout_session;
    },
    /** A payer pays a page; answers what the account tells of it. */
    paid(session: Body): Told[] {
      const before = told.length;
      pay(session.provider_result.provider_session_id);
      return told.slice(before);
    },
    /** Sends an event; one under another id is another event of the same. */
    async send({ body, ...known }: Told, id = known.id, to = { ...base.scope, secret: 'first' }) {
      const named = idMember === undefined ? body : { ...body, [idMember]: id };
      const url = `/v1/webhooks/${provider}/${to.tenantId}/${to.environmentId}`;
      const sent = sign(Buffer.from(JSON.stringify(named)), { secret: to.secret, id, atMs: Date.now(), url });
      const { statusCode } = await app.inject({ method: 'POST', url, headers: sent.headers, payload: sent.body });
      expect(statusCode).toBe(200);
      return id;
    },
  };
}

const fateOf = (eventId: string) =>
  expect.poll((): Promise<InboxRow | undefined> => inboxOf({ base }, eventId), { timeout: 20_000 });
const becomes = ({ id }: Body, checkout_status: string) =>
  expect.poll(() => readSession(api, id), { timeout: 20_000 }).toMatchObject({ checkout_status });
const paymentsOf = async ({ checkout_invoice_id: id }: Body): Promise<Body[]> =>
  (await api<Body>('GET', `/payments?destination_id=${id}`)).body.items;

/** An event with other text in it wherever it stands, as one of another object. */
const about = (event: Told, changes: readonly (readonly [string, string])[]): Told => ({
  ...event,
  body: JSON.parse(changes.reduce((text, [from, to]) => text.replaceAll(from, to), JSON.stringify(event.body))),
});

/** An event that says another amount in another currency, and that it happened three days ago. */
const distorted = (event: Told): Told => ({
  ...event,
  body: JSON.parse(JSON.stringify(event.body), (name, value: unknown) => {
    if (/amount|total|price|captured|capture/.test(name) && /^(number|string)$/.test(typeof value)) {
      return typeof value === 'number' ? 1 : '1';
    }
    if (/^currency(_code)?$/.test(name)) return 'JPY';
    if (!/^(created|created_at|occurred_at|timestamp)$/.test(name)) return value;
    const threeDaysMs = 3 * 86_400_000;
    if (typeof value === 'number') return value - threeDaysMs / 1000;
    return new Date(Date.parse(String(value)) - threeDaysMs).toISOString();
  }),
});

const tellers = await Promise.all(senders.map(teller));

describe.each(tellers)('what $provider tells', ({ provider, captures, connect, opened, paid, send }) => {
  test('of a page that nobody paid is asked about and not believed', async () => {
    const [known, unpaid] = [await opened(), await opened()];
    const idOf = (session: Body): string => session.provider_result.provider_session_id;
    const events = paid(known);
    expect(events.length).toBeGreaterThan(0);
    for (const event of events) {
      const forged = about(event, [
        [known.id, unpaid.id],
        [idOf(known), idOf(unpaid)],
      ]);
      await fateOf(await send(forged, copyId())).toMatchObject({ done_at: expect.anything() });
    }
    const rows = await inboxOfSession(unpaid.id);
    expect(rows).toContain('passed_on');
    expect(await readSession(api, unpaid.id)).toMatchObject({ checkout_status: 'pending' });
    expect(await paymentsOf(unpaid)).toMatchObject([{ payment_status: expect.not.stringMatching('SUCCEEDED') }]);
    await becomes(known, 'completed');
    await api('POST', `/checkout/sessions/${unpaid.id}/cancel`);
  });

  test('ten times, backwards, three days late and with another amount and currency settles one payment of what was taken', async () => {
    const session = await opened();
    const before = captures().length;
    const events = paid(session).toReversed();
    const sent = events.flatMap((event) => [
      ...Array.from({ length: 10 }, () => send(event)),
      send(distorted(event), copyId()),
    ]);
    const ids = new Set(await Promise.all(sent));
    for (const id of ids) await fateOf(id).toMatchObject({ done_at: expect.anything() });
    await becomes(session, 'completed');
    expect(captures()).toHaveLength(before + 1);
    const { currency } = accounts[provider]!;
    expect(await paymentsOf(session)).toMatchObject([{ payment_status: 'SUCCEEDED', amount: '25', currency }]);
    const { body } = await api<Body>('GET', `/refunds?payment_ids=${session.checkout_payment_id}`);
    expect(body.items).toEqual([]);
    const late = await send(distorted(events[0]!), copyId());
    await fateOf(late).toMatchObject({ done_at: expect.anything() });
    expect(await paymentsOf(session)).toHaveLength(1);
  });

  test('while it answers 429, 500, HTML and half a body is asked about again until it answers', async () => {
    const session = await opened();
    const events = paid(session);
    const fake = fakes[provider as 'stripe'];
    const faults = ['429', '500', 'html', 'half'] as const;
    for (const how of faults) fake.failNext('read', how);
    for (const _ of faults) {
      const asked = fake.calls('read');
      for (const event of events) await send(event, copyId());
      await expect.poll(() => fake.calls('read'), { timeout: 20_000 }).toBeGreaterThan(asked);
    }
    await becomes(session, 'completed');
    expect(await paymentsOf(session)).toMatchObject([{ payment_status: 'SUCCEEDED', amount: '25' }]);
  });

  test('at the address of another tenant that uses the same account is not theirs', async () => {
    expect((await connect(other.apiKey, 'theirs')).status).toBe(201);
    const session = await opened();
    const events = paid(session);
    for (const event of events) {
      await send(event, event.id, { ...base.scope, ...other, secret: 'theirs' });
      await expect
        .poll(() => outcomesAt(other, event.id), { timeout: 20_000 })
        .toEqual([expect.stringMatching('not_ours|ignored')]);
    }
    expect(await inboxOfSession(session.id)).toEqual([]);
    await becomes(session, 'completed');
  });
});

test('finding A13: what any provider tells before the commit of what it is about is looked for again', async () => {
  const early = await Promise.all(
    tellers.map(async ({ provider, opened, paid, send }) => {
      const session = await opened();
      const unknown = `${session.id}_later`;
      const events = paid(session).map((event) => ({ ...about(event, [[session.id, unknown]]), id: copyId() }));
      const tell = () => Promise.all(events.map((event) => send(event)));
      await tell();
      return { provider, session, unknown, tell, ids: events.map(({ id }) => id) };
    }),
  );
  const rowsOf = (ids: string[]) => Promise.all(ids.map((id) => inboxOf({ base }, id)));
  const waited: string[] = [];
  for (const { provider, session, unknown, tell, ids } of early) {
    const isLookedAt = async () => (await rowsOf(ids)).every((row) => row && (row.done_at !== null || row.attempt > 0));
    await expect.poll(isLookedAt, { timeout: 20_000 }).toBe(true);
    if ((await rowsOf(ids)).some((row) => row?.done_at === null)) waited.push(provider);
    // The transaction that made it commits, and the pause is over; a repeat has the inbox looked through, which its own time would do as well.
    await inSqlTransaction(base.database, base.scope, (tx) =>
      tx.rows(
        `update inbound_event set marker = jsonb_set(marker, '{id}', to_jsonb($1::text)), due_at = now()
         where done_at is null and marker ->> 'id' = $2`,
        [session.id, unknown],
      ),
    );
    await tell();
    // A session that its own poll found paid meanwhile has nothing left to be told.
    await expect
      .poll(() => inboxOfSession(session.id), { timeout: 20_000 })
      .toContainEqual(expect.stringMatching(/^(passed_on|settled)$/));
    for (const id of ids) await fateOf(id).toMatchObject({ done_at: expect.anything() });
    await becomes(session, 'completed');
  }
  // A payment at Moyasar carries no name of ours but the id of its page, which nobody can pay before it is written down.
  expect(waited).toEqual(senders.flatMap(({ provider }) => (provider === 'moyasar' ? [] : [provider])));
});

/** Outcomes of the notifications that were found to be about a session. */
async function inboxOfSession(sessionId: string): Promise<(string | null)[]> {
  const rows = await inSqlTransaction(base.database, base.scope, (tx) =>
    tx.rows<{ outcome: string | null }>('select outcome from inbound_event where object_id = $1', [sessionId]),
  );
  return rows.map(({ outcome }) => outcome);
}

async function outcomesAt(scope: { tenantId: string; environmentId: string }, eventId: string) {
  const rows = await inSqlTransaction(base.database, { ...base.scope, ...scope }, (tx) =>
    tx.rows<{ outcome: string | null }>('select outcome from inbound_event where provider_event_id = $1', [eventId]),
  );
  return rows.map(({ outcome }) => outcome);
}
