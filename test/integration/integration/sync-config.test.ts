import { beforeEach, describe, expect, it } from 'vitest';
import { testApi } from '../../support/api.ts';
import { examples, removeAll } from './connection.fixture.ts';

const { call, scope } = await testApi();
const connections = '/v1/connections';

beforeEach(() => removeAll({ call }));

const send = (provider: string, syncConfig: unknown) =>
  call('POST', connections, {
    body: {
      name: provider,
      provider_type: provider,
      encrypted_secret_data: examples[provider]?.least,
      sync_config: syncConfig,
    },
  });

async function configured(provider: string, syncConfig: unknown) {
  const { status, body } = await send(provider, syncConfig);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.sync_config;
}

const entities = ['customer', 'deal', 'invoice', 'payment', 'plan', 'price', 'quote', 'subscription'];
const refused = [
  'plan.outbound',
  'subscription.outbound',
  'invoice.inbound',
  'deal.inbound',
  'quote.inbound',
  'price.inbound',
];
const flags = entities.flatMap((entity) => [`${entity}.inbound`, `${entity}.outbound`]);
const off = { inbound: false, outbound: false };
const allOff = {
  ...Object.fromEntries(entities.map((entity) => [entity, off])),
  aws_marketplace: null,
  invoice_sync_settings: null,
  s3: null,
};

describe('what is exchanged', () => {
  it.each(flags.filter((flag) => !refused.includes(flag)))('%s is accepted for every provider', async (flag) => {
    const [entity = '', direction = ''] = flag.split('.');
    for (const provider of ['stripe', 'tabs', 's3']) {
      const config = await configured(provider, { [entity]: { [direction]: true } });
      expect(config).toEqual({ ...allOff, [entity]: { ...off, [direction]: true } });
    }
  });

  it.each(refused)('%s is refused when it is on, and accepted when it is off', async (flag) => {
    const [entity = '', direction = ''] = flag.split('.');
    const { status, body } = await send('stripe', { [entity]: { [direction]: true } });
    expect([status, body.code, Object.keys(body.details.fields)]).toEqual([
      400,
      'validation_error',
      [`sync_config.${flag}`],
    ]);
    expect(await configured('stripe', { [entity]: { [direction]: false } })).toEqual(allOff);
  });

  it('is nothing without a configuration', async () => {
    for (const [provider, none] of [
      ['stripe', undefined],
      ['tabs', null],
      ['nomod', {}],
      ['whop', { customer: null }],
    ] as const)
      expect(await configured(provider, none)).toEqual(allOff);
  });

  it.each([
    ['sync_config', 'on'],
    ['sync_config.customer', { customer: true }],
    ['sync_config.customer.inbound', { customer: { inbound: 'yes' } }],
  ])('%s of another type is refused', async (field, config) => {
    const { status, body } = await send('stripe', config);
    expect([status, Object.keys(body.details.fields)]).toEqual([400, [field]]);
  });
});

describe('settings of invoices', () => {
  const settings = (provider: string, sent: unknown) => send(provider, { invoice_sync_settings: sent });
  const empty = {
    normalize_fixed_to: null,
    service_period_custom_fields: null,
    metadata_custom_fields: [],
    payment_mode: null,
    deposit_to_account_id: null,
    global_custom_fields: null,
  };

  it('are shown whole', async () => {
    expect((await configured('stripe', { invoice_sync_settings: {} })).invoice_sync_settings).toEqual(empty);
    const all = {
      normalize_fixed_to: 'MONTHLY',
      service_period_custom_fields: { start_field_id: 's', end_field_id: 'e' },
      metadata_custom_fields: [
        { field: 'f1', metadata_key: 'k', source: 'customer' },
        { field: 'f2', metadata_key: 'k', source: 'invoice' },
      ],
      payment_mode: 'bank',
      deposit_to_account_id: '42',
      global_custom_fields: [{ customfield_id: '46000000012845', value: 'x' }],
    };
    for (const provider of ['quickbooks', 'zoho_books'])
      expect((await configured(provider, { invoice_sync_settings: all })).invoice_sync_settings).toEqual(all);
    const none = { service_period_custom_fields: { start_field_id: null } };
    expect((await configured('tabs', { invoice_sync_settings: none })).invoice_sync_settings).toEqual(empty);
  });

  const field = (name: string, source = 'customer') => ({ field: name, metadata_key: 'k', source });
  const fields = (count: number) => Array.from({ length: count }, (_none, index) => field(`f${index}`));
  it.each([
    ['normalize_fixed_to', { normalize_fixed_to: 'FORTNIGHTLY' }],
    ['service_period_custom_fields.end_field_id', { service_period_custom_fields: { start_field_id: 's' } }],
    ['service_period_custom_fields.start_field_id', { service_period_custom_fields: { end_field_id: 'e' } }],
    ['metadata_custom_fields', { metadata_custom_fields: fields(51) }],
    ['metadata_custom_fields[2].field', { metadata_custom_fields: [field('a'), field('b'), field('a', 'invoice')] }],
    ['metadata_custom_fields[0].source', { metadata_custom_fields: [field('a', 'plan')] }],
    ['metadata_custom_fields[0].metadata_key', { metadata_custom_fields: [{ field: 'a', source: 'customer' }] }],
    ['payment_mode', { payment_mode: 'bank' }],
    ['deposit_to_account_id', { deposit_to_account_id: '1' }],
    ['global_custom_fields', { global_custom_fields: { a: 'b' } }],
  ])('are refused for %s', async (name, sent) => {
    const { status, body } = await settings('stripe', sent);
    expect([status, body.code, Object.keys(body.details.fields)]).toEqual([
      400,
      'validation_error',
      [`sync_config.invoice_sync_settings.${name}`],
    ]);
  });

  it('take fifty fields, and long numbers only as strings', async () => {
    expect((await settings('stripe', { metadata_custom_fields: fields(50) })).status).toBe(201);
    const payload = `{"name":"q","provider_type":"zoho_books","encrypted_secret_data":${JSON.stringify(examples.zoho_books?.least)},"sync_config":{"invoice_sync_settings":{"global_custom_fields":{"id":4600000001284500001}}}}`;
    const headers = { 'content-type': 'application/json' };
    const { status, body } = await call('POST', connections, { body: payload, headers });
    expect([status, body.message]).toEqual([400, expect.stringContaining('as strings')]);
  });
});

describe('the bucket of exports', () => {
  const bucket = { bucket: 'acme-exports', region: 'eu-central-1' };
  it('is shown whole, managed by the platform or not, under both names of the flag', async () => {
    expect((await configured('s3', { s3: bucket })).s3).toEqual({
      ...bucket,
      key_prefix: '',
      compression: 'none',
      encryption: 'AES256',
      is_platform_managed: false,
      is_flexprice_managed: false,
    });
    const all = { ...bucket, key_prefix: 'billing/2026', compression: 'gzip', encryption: 'aws:kms:dsse' };
    expect((await configured('s3', { s3: { ...all, is_flexprice_managed: false } })).s3).toMatchObject(all);
    for (const flag of ['is_platform_managed', 'is_flexprice_managed'])
      expect((await configured('s3', { s3: { [flag]: true, bucket: 'theirs', key_prefix: 'x' } })).s3).toEqual({
        bucket: null,
        region: null,
        key_prefix: `${scope.tenantId}/${scope.environmentId}`,
        compression: 'none',
        encryption: 'AES256',
        is_platform_managed: true,
        is_flexprice_managed: true,
      });
  });

  it.each([
    ['bucket', { region: 'eu-central-1' }],
    ['region', { bucket: 'acme-exports' }],
    ['bucket', { ...bucket, bucket: 'a/b' }],
    ['region', { ...bucket, region: 'eu.example.com' }],
    ['key_prefix', { ...bucket, key_prefix: '../other' }],
    ['key_prefix', { ...bucket, key_prefix: 'a b' }],
    ['compression', { ...bucket, compression: 'zip' }],
    ['encryption', { ...bucket, encryption: 'none' }],
    ['is_flexprice_managed', { ...bucket, is_platform_managed: false, is_flexprice_managed: true }],
  ])('is refused for its %s', async (name, sent) => {
    const { status, body } = await send('s3', { s3: sent });
    expect([status, Object.keys(body.details.fields)]).toEqual([400, [`sync_config.s3.${name}`]]);
  });
});

describe('GET /integrations/config', () => {
  const shown = async () => (await call('GET', '/v1/integrations/config')).body.integrations;
  const [yes, no] = [true, false];
  const capable: Record<string, [inbound: boolean, outbound: boolean, invoiceInbound: boolean]> = {
    stripe: [yes, yes, no],
    paddle: [yes, yes, yes],
    hubspot: [yes, no, no],
    razorpay: [no, yes, no],
    chargebee: [no, yes, no],
    quickbooks: [no, yes, no],
    nomod: [no, yes, no],
    whop: [no, yes, no],
    tabs: [no, yes, no],
    zoho_books: [no, no, no],
    moyasar: [no, no, no],
  };

  it('is empty without connections, and knows nothing of stores and marketplaces', async () => {
    expect(await shown()).toEqual([]);
    await configured('s3', undefined);
    await configured('azure_marketplace', undefined);
    expect(await shown()).toEqual([]);
  });

  it.each(Object.entries(capable))('says what %s can exchange, and what is on', async (provider, can) => {
    const current = await configured(provider, { customer: { outbound: true } });
    const [inbound, outbound, invoiceInbound] = can;
    const base_config = {
      ...allOff,
      customer: { inbound, outbound },
      invoice: { inbound: invoiceInbound, outbound: true },
    };
    expect(await shown()).toEqual([{ provider, base_config, current_config: current }]);
  });

  it('has an entry for each published connection, the oldest first', async () => {
    await configured('tabs', undefined);
    await configured('nomod', undefined);
    expect((await shown()).map(({ provider }: { provider: string }) => provider)).toEqual(['tabs', 'nomod']);
    const { body } = await call('GET', `${connections}?provider_type=tabs`);
    await call('DELETE', `${connections}/${body.connections[0].id}`);
    expect((await shown()).map(({ provider }: { provider: string }) => provider)).toEqual(['nomod']);
  });
});
