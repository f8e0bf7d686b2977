import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { inSqlTransaction } from '../../../../db/transaction.ts';
import { createSandbox } from '../../../../services/platform/tenant.ts';
import { testApp } from '../../../support/app.ts';
import { testDatabase } from '../../../support/database.ts';
import { checkDocumented } from '../../../support/documented.ts';
import { everyProvider } from './every-provider.fixture.ts';
import { otherSenders, type Sender, type Sent, type Signing, senders } from './notification-senders.fixture.ts';

const { fakes, providers } = await everyProvider();
const base = await testDatabase({ fakes });
const { app, api } = await testApp(base, undefined, { providers });
const other = await createSandbox(base.database, { tenantName: 'Other' });

const minuteMs = 60_000;
const mebibyte = 1024 * 1024;

type Address = { tenantId: string; environmentId: string };
type Row = { provider_event_id: string; outcome: string | null; headers: object; body: Buffer };

let events = 0;
const newEventId = () => {
  events += 1;
  return `evt_table_${events}`;
};

/** A provider that talks to the address of this environment, unless another is named. */
function conversationOf({ provider, keys, secretsOf, sign, eventOf }: Sender) {
  const connection = (secrets: object) => ({
    ...{ name: provider, provider_type: provider },
    encrypted_secret_data: { ...keys, ...secrets },
  });
  const pathOf = (to: Address) => `/v1/webhooks/${provider}/${to.tenantId}/${to.environmentId}`;
  return {
    /** Connects the account, at another tenant where its key is named. */
    async connect(secrets: object = secretsOf('first'), apiKey = base.apiKey): Promise<string> {
      const headers = { 'x-api-key': apiKey };
      const { status, body } = await api<{ id: string }>('POST', '/connections', connection(secrets), headers);
      expect(status, JSON.stringify(body)).toBe(201);
      return body.id;
    },
    /** An event, or bytes, signed as the provider does it for an address. */
    signed(
      what: Buffer | null = null,
      { secret = 'first', id = newEventId(), atMs = Date.now() }: Partial<Signing> = {},
      to: Address = base.scope,
    ) {
      const body = what ?? Buffer.from(JSON.stringify(eventOf(id)));
      return sign(body, { secret, id, atMs, url: `http://localhost:80${pathOf(to)}` });
    },
    async post({ headers, body }: Sent, to: Address = base.scope) {
      const url = pathOf(to);
      const answer = await app.inject({ method: 'POST', url, headers, payload: body });
      checkDocumented('POST', url, answer.statusCode, null, answer.json());
      return { status: answer.statusCode, body: answer.json() as { status?: string; message: string } };
    },
    kept: () =>
      inSqlTransaction(base.database, base.scope, (tx) =>
        tx.rows<Row>(
          'select provider_event_id, outcome, headers, body from inbound_event where provider = $1 order by received_at, id',
          [provider],
        ),
      ),
  };
}

describe.each([...senders, ...otherSenders])('notifications of $provider', (sender) => {
  const { provider, keys, refusedWith, covers, secretsOf, isInBody } = sender;
  const { connect, signed, post, kept } = conversationOf(sender);
  const problem = (message: string, status: number = refusedWith) => ({
    status,
    body: { message: expect.stringContaining(message) },
  });
  /** Refuses each of them, and keeps none. */
  async function refuses(rows: readonly (readonly [Sent, ReturnType<typeof problem>, Address?])[]): Promise<void> {
    const before = (await kept()).length;
    for (const [sent, expected, to] of rows) expect(await post(sent, to)).toMatchObject(expected);
    expect(await kept()).toHaveLength(before);
  }

  test('of an account that is not connected are taken by nobody', async () => {
    await refuses([[signed(), problem(`no connection to ${provider}`, 400)]]);
    await connect();
  });

  test('are kept once, however often and at whatever time after the event they come, without secrets', async () => {
    const sent = signed();
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(sent)));
    answers.push(await post(sent));
    for (const answer of answers) {
      expect(answer).toEqual({ status: 200, body: { status: 'success', message: 'stored' } });
    }
    const rows = await kept();
    expect(rows).toMatchObject([{ outcome: sender.isKeptAlone ? 'ignored' : null }]);
    const [{ headers, body }] = rows as [Row];
    for (const text of [JSON.stringify(headers), body.toString()]) {
      expect(text).not.toContain('first');
      expect(text).not.toContain(Buffer.from('hook:first').toString('base64'));
    }
  });

  test('that prove nothing are refused', async () => {
    const { headers, body } = signed();
    const unsigned = { headers: { 'content-type': 'application/json' }, body: Buffer.from('{"id":"evt_unsigned"}') };
    await refuses([
      [unsigned, problem('is not signed')],
      [{ ...unsigned, body: Buffer.alloc(0) }, problem('is not signed')],
      [signed(null, { secret: 'another' }), problem('does not fit')],
      [signed(null, { secret: 'firs' }), problem('does not fit')],
      [signed(null, { secret: 'undefined' }), problem('does not fit')],
    ]);
    if (covers === 'nothing') return;
    const changed = Buffer.from(body.toString().replace('_1"', '_2"'));
    expect(changed.equals(body)).toBe(false);
    const halves = Object.entries(headers).map(([name, value]) => [
      name,
      /signature/.test(name) ? value.slice(0, -1) : value,
    ]);
    await refuses([
      [{ headers, body: changed }, problem('does not fit')],
      [{ headers, body: Buffer.concat([body, Buffer.from(' ')]) }, problem('does not fit')],
      [{ headers, body: Buffer.alloc(0) }, problem('does not fit')],
      [{ headers: Object.fromEntries(halves), body }, problem('does not fit')],
    ]);
  });

  test('with changed bytes, where no signature covers them, change nothing of what was kept', async () => {
    if (covers !== 'nothing') return;
    const sent = signed(null, { id: 'evt_table_changed' });
    expect((await post(sent)).status).toBe(200);
    const changed = { ...sent, body: Buffer.from(sent.body.toString().replace('_1"', '_2"')) };
    expect((await post(changed)).status).toBe(200);
    const rows = (await kept()).filter(({ provider_event_id }) => provider_event_id === 'evt_table_changed');
    expect(rows).toHaveLength(1);
    expect(rows[0]?.body.toString()).toContain('_1"');
  });

  test('finding B16: of a clock ten minutes away are refused where the signature covers a time, and 4 minutes are taken', async () => {
    const at = (minutes: number) => signed(null, { atMs: Date.now() + minutes * minuteMs });
    for (const minutes of [-4, 4]) expect((await post(at(minutes))).status).toBe(200);
    if (covers === 'bytes and time') {
      await refuses([-10, 10].map((minutes) => [at(minutes), problem('clock of this server', 400)] as const));
    } else {
      for (const minutes of [-10, 10]) expect((await post(at(minutes))).status).toBe(200);
    }
  });

  test.each([
    ['UTF-8', Buffer.concat([Buffer.from('{"id":"evt_'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')])],
    ['JSON', Buffer.from('{"id":')],
    ['object', Buffer.from('["evt_list"]')],
    ['event', Buffer.from('{"neither":"id","nor":"type"}')],
  ])('that are no %s after a valid signature are kept once and passed on to nobody', async (what, bytes) => {
    const sent = signed(bytes);
    // A secret in the body proves nothing where that cannot be read.
    if (isInBody && what !== 'event') return refuses([[sent, problem('is not signed')]]);
    const before = (await kept()).length;
    for (let times = 0; times < 2; times += 1) expect((await post(sent)).status).toBe(200);
    const isEvent = what === 'event' && sender.takesAnyObject;
    expect((await kept()).slice(before)).toMatchObject([{ outcome: isEvent ? 'ignored' : 'unreadable' }]);
  });

  test('of more than 1 MiB are refused, whoever signed them, and of 1 MiB they are taken', async () => {
    const whole = (bytes: number) => {
      const text = JSON.stringify({ ...sender.eventOf(newEventId()), padding: '' });
      const padded = (length: number) => text.replace('"padding":""', `"padding":"${'x'.repeat(length)}"`);
      const added = signed(Buffer.from(text)).body.length;
      return signed(Buffer.from(padded(bytes - added)));
    };
    expect(whole(mebibyte).body).toHaveLength(mebibyte);
    expect((await post(whole(mebibyte))).status).toBe(200);
    await refuses([[whole(mebibyte + 1), problem('1 MiB of a notification', 400)]]);
  });

  test('finding A13: of another tenant are refused here, ours are refused there, and an address of both is none: no tenant is taken from a payload', async () => {
    await connect(secretsOf('theirs'), other.apiKey);
    await refuses([
      [signed(null, { secret: 'theirs' }), problem('does not fit')],
      [signed(null, {}, other), problem('does not fit'), other],
      [signed(), problem('has no environment', 404), { ...other, environmentId: base.scope.environmentId }],
      [signed(), problem('has no environment', 404), { ...base.scope, environmentId: other.environmentId }],
    ]);
    expect((await post(signed(null, { secret: 'theirs' }, other), other)).status).toBe(200);
  });

  test('are signed with the secret before for a while after it was exchanged', async () => {
    const { body } = await api<{ connections: { id: string; provider_type: string }[] }>(
      'GET',
      '/connections?limit=50',
    );
    const { id } = body.connections.find(({ provider_type }) => provider_type === provider)!;
    const { exchangesAll } = sender;
    const change = { encrypted_secret_data: { ...(exchangesAll ? keys : {}), ...secretsOf('second') } };
    expect((await api('PUT', `/connections/${id}`, change)).status).toBe(200);
    expect((await post(signed(null, { secret: 'second' }))).status).toBe(200);
    if (!exchangesAll) expect((await post(signed())).status).toBe(200);
    await refuses([[signed(null, { secret: exchangesAll ? 'first' : 'third' }), problem('does not fit')]]);
  });
});

test('a notification of Zoho Books is signed with the query of its address, in whatever order that is', async () => {
  const { tenantId, environmentId } = base.scope;
  const payload = '{"invoice":{"invoice_id":"invoice_query"}}';
  const signature = createHmac('sha256', 'second').update(`a1b2${payload}`).digest('hex');
  for (const [query, status] of [
    ['?b=2&a=1', 200],
    ['?a=1&b=2', 200],
    ['?a=1&b=3', 401],
    ['', 401],
  ] as const) {
    const url = `/v1/webhooks/zoho_books/${tenantId}/${environmentId}${query}`;
    const headers = { 'content-type': 'application/json', 'x-zoho-webhook-signature': signature };
    expect([query, (await app.inject({ method: 'POST', url, headers, payload })).statusCode]).toEqual([query, status]);
  }
});
