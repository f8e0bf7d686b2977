import { createHmac } from 'node:crypto';

/** A notification as it is sent. */
export interface Sent {
  headers: Record<string, string>;
  body: Buffer;
}

/** Parts of a signature; `secret` is the name that secrets of a connection are made of. */
export interface Signing {
  secret: string;
  id: string;
  atMs: number;
  /** Address that is called, as its sender writes it. */
  url: string;
}

/** A provider as it sends notifications, by its published rules. */
export interface Sender {
  provider: string;
  /** Secrets of a connection without those of notifications. */
  keys: Record<string, string>;
  /** Secrets of notifications of a connection, made of a name. */
  secretsOf(name: string): Record<string, string>;
  sign(body: Buffer, signing: Signing): Sent;
  eventOf(id: string): object;
  /** Status where the signature is missing or does not fit. */
  refusedWith: 400 | 401;
  /** Part that the signature covers: nothing where a secret goes along with the bytes. */
  covers: 'bytes and time' | 'bytes' | 'nothing';
  /** The secret is a member of the body, which is read to find it. */
  isInBody?: true;
  /** Member of the body that names the event; absent where a header alone does, or nothing. */
  idMember?: 'id' | 'event_id';
  /** True for a provider that tells of no payments: its notifications are kept and nothing more. */
  isKeptAlone?: true;
  /** Any object is an event of it. */
  takesAnyObject?: true;
  /** The secret is one of its other secrets, which are exchanged all at once and end at once. */
  exchangesAll?: true;
}

const json = { 'content-type': 'application/json' };
const secondsOf = ({ atMs }: Signing) => String(Math.floor(atMs / 1000));
const hmac = (key: string | Buffer, ...parts: (string | Buffer)[]) => {
  const made = createHmac('sha256', key);
  for (const part of parts) made.update(part);
  return made;
};
const alone = (name: string) => ({ webhook_secret: name });
const encoded = (name: string) => Buffer.from(name.padEnd(24, '.')).toString('base64');

/** Every provider that tells of payments. */
export const senders: Sender[] = [
  {
    provider: 'stripe',
    keys: { publishable_key: 'pk_test_1', secret_key: 'sk_test_table' },
    secretsOf: alone,
    sign(body, signing) {
      const time = secondsOf(signing);
      const signature = hmac(signing.secret, `${time}.`, body).digest('hex');
      return { headers: { ...json, 'stripe-signature': `t=${time},v1=${signature}` }, body };
    },
    eventOf: (id) => ({ id, type: 'payment_intent.succeeded', data: { object: { id: 'pi_1' } } }),
    refusedWith: 400,
    covers: 'bytes and time',
    idMember: 'id',
  },
  {
    provider: 'paddle',
    keys: { api_key: 'pdl_sdbx_apikey_table', client_side_token: 'test_table' },
    secretsOf: alone,
    sign(body, signing) {
      const time = secondsOf(signing);
      const signature = hmac(signing.secret, `${time}:`, body).digest('hex');
      return { headers: { ...json, 'paddle-signature': `ts=${time};h1=${signature}` }, body };
    },
    eventOf: (id) => ({ event_id: id, event_type: 'transaction.completed', data: { id: 'txn_1' } }),
    refusedWith: 400,
    covers: 'bytes and time',
    idMember: 'event_id',
  },
  {
    provider: 'razorpay',
    keys: { key_id: 'rzp_test_table', secret_key: 'secret_table' },
    secretsOf: alone,
    sign: (body, { secret, id }) => ({
      headers: {
        ...json,
        'x-razorpay-signature': hmac(secret, body).digest('hex'),
        'x-razorpay-event-id': id,
      },
      body,
    }),
    eventOf: () => ({ event: 'payment.captured', payload: { payment: { entity: { id: 'pay_1' } } } }),
    refusedWith: 400,
    covers: 'bytes',
  },
  {
    provider: 'whop',
    keys: { api_key: 'apik_table', company_id: 'biz_table' },
    secretsOf: alone,
    sign(body, signing) {
      const time = secondsOf(signing);
      const signature = hmac(signing.secret, `${signing.id}.${time}.`, body).digest('base64');
      const headers = { 'webhook-id': signing.id, 'webhook-timestamp': time, 'webhook-signature': `v1,${signature}` };
      return { headers: { ...json, ...headers }, body };
    },
    eventOf: (id) => ({ id, type: 'payment.succeeded', data: { id: 'pay_1' } }),
    refusedWith: 401,
    covers: 'bytes and time',
    idMember: 'id',
  },
  {
    provider: 'nomod',
    keys: { api_key: 'sk_test_table' },
    secretsOf: (name) => alone(`whsec_${encoded(name)}`),
    sign(body, signing) {
      const time = secondsOf(signing);
      const key = Buffer.from(encoded(signing.secret), 'base64');
      const signature = hmac(key, `${signing.id}.${time}.`, body).digest('base64');
      const headers = { 'svix-id': signing.id, 'svix-timestamp': time, 'svix-signature': `v1,${signature}` };
      return { headers: { ...json, ...headers }, body };
    },
    eventOf: () => ({ type: 'charge.completed', data: { id: 'charge_1', checkout: { id: 'checkout_1' } } }),
    refusedWith: 401,
    covers: 'bytes and time',
  },
  {
    provider: 'chargebee',
    keys: { site: 'acme-test', api_key: 'test_table' },
    secretsOf: (name) => ({ webhook_username: 'hook', webhook_password: name }),
    sign: (body, { secret }) => ({
      headers: { ...json, authorization: `Basic ${Buffer.from(`hook:${secret}`).toString('base64')}` },
      body,
    }),
    eventOf: (id) => ({ id, event_type: 'payment_succeeded', content: { transaction: { id: 'txn_1' } } }),
    refusedWith: 401,
    covers: 'nothing',
    idMember: 'id',
  },
  {
    provider: 'moyasar',
    keys: { secret_key: 'sk_test_table' },
    secretsOf: alone,
    sign: (body, { secret }) => ({
      headers: json,
      body: Buffer.from(
        body.toString('latin1').replace(/^\{/, () => `{"secret_token":${JSON.stringify(secret)},`),
        'latin1',
      ),
    }),
    eventOf: (id) => ({ id, type: 'payment_paid', data: { id: 'payment_1' } }),
    refusedWith: 401,
    covers: 'nothing',
    idMember: 'id',
    isInBody: true,
  },
];

/** Providers that tell of what people change there, and of no payments. */
export const otherSenders: Sender[] = [
  {
    provider: 'hubspot',
    keys: { access_token: 'pat_table' },
    secretsOf: (name) => ({ client_secret: name }),
    sign(body, { secret, atMs, url }) {
      const time = String(atMs);
      const signature = hmac(secret, `POST${url}`, body, time).digest('base64');
      return { headers: { ...json, 'x-hubspot-signature-v3': signature, 'x-hubspot-request-timestamp': time }, body };
    },
    eventOf: (id) => [{ eventId: id, subscriptionType: 'deal.creation', objectId: 'deal_1' }],
    refusedWith: 401,
    covers: 'bytes and time',
    isKeptAlone: true,
    exchangesAll: true,
  },
  {
    provider: 'quickbooks',
    keys: {
      ...{ client_id: 'app_table', client_secret: 'app_secret', realm_id: '1', environment: 'sandbox' },
      ...{ access_token: 'access_table', refresh_token: 'refresh_table' },
    },
    secretsOf: (name) => ({ webhook_verifier_token: name }),
    sign: (body, { secret }) => ({
      headers: { ...json, 'intuit-signature': hmac(secret, body).digest('base64') },
      body,
    }),
    eventOf: (id) => {
      const entities = [{ name: 'Invoice', id: 'invoice_1', operation: 'Update', lastUpdated: id }];
      return { eventNotifications: [{ realmId: '1', dataChangeEvent: { entities } }] };
    },
    refusedWith: 401,
    covers: 'bytes',
    isKeptAlone: true,
  },
  {
    provider: 'zoho_books',
    keys: {
      ...{ client_id: 'app_table', client_secret: 'app_secret', refresh_token: 'refresh_table' },
      organization_id: '1',
    },
    secretsOf: alone,
    sign: (body, { secret }) => ({
      headers: { ...json, 'x-zoho-webhook-signature': hmac(secret, body).digest('hex') },
      body,
    }),
    eventOf: (id) => ({ invoice: { invoice_id: 'invoice_1', event: id } }),
    refusedWith: 401,
    covers: 'bytes',
    isKeptAlone: true,
    takesAnyObject: true,
  },
];
