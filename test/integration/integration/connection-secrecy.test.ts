import { Writable } from 'node:stream';
import pg from 'pg';
import { expect, it } from 'vitest';
import { buildApp } from '../../../api/app.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { findConnection } from '../../../services/integration/connection.ts';
import { openSecrets } from '../../../services/integration/connection-secret.ts';
import { testApi } from '../../support/api.ts';
import { testSecretKeys } from '../../support/secret-keys.ts';
import { examples } from './connection.fixture.ts';

const lines: string[] = [];
const stream = new Writable({
  write(chunk, _encoding, done) {
    lines.push(String(chunk));
    done();
  },
});
const { app, call, database, scope, apiKey, ownerUrl } = await testApi({ logger: { level: 'trace', stream } });
const { secretEncryptionKeys } = testSecretKeys;
const connections = '/v1/connections';
const answers: string[] = [];

async function ask(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown) {
  const answer = await call(method, path, { body, headers: { 'idempotency-key': `key-${answers.length}` } });
  answers.push(JSON.stringify([answer.body, answer.headers]));
  return answer;
}

/** The same API with other keys. */
async function withKeys(keys: readonly { id: string; key: string }[]) {
  const { dependencies } = app;
  const other = await buildApp({ ...dependencies, config: { ...dependencies.config, secretEncryptionKeys: keys } });
  return async (method: 'POST' | 'PUT' | 'GET', path: string, payload?: object) => {
    const answer = await other.inject({
      method,
      url: path,
      headers: { 'x-api-key': apiKey },
      ...(payload && { payload }),
    });
    return { status: answer.statusCode, body: answer.json() };
  };
}

const stored = async (id: string) => {
  const rows = await inTransaction(database, scope, (tx) =>
    tx.rows<{ key: string; nonce: string; ciphertext: string }>(
      `select secret_key_id as key, encode(secret_nonce, 'hex') as nonce, encode(secret_ciphertext, 'hex') as ciphertext
       from connection where id = $1`,
      [id],
    ),
  );
  return rows[0]!;
};

const kept = (id: string) =>
  inTransaction(database, scope, async (tx) => openSecrets(secretEncryptionKeys, await findConnection(tx, id)));

it('no secret is in any answer, log line or row, whatever is asked and however it ends', async () => {
  for (const [provider, { least, more }] of Object.entries(examples)) {
    const secrets = { ...least, ...more };
    const body = { name: provider, provider_type: provider, encrypted_secret_data: secrets };
    const { body: made } = await ask('POST', connections, body);
    await ask('POST', connections, body);
    await ask('POST', connections, { ...body, encrypted_secret_data: { ...secrets, unknown: 'unknown_planted' } });
    await ask('POST', connections, {
      ...body,
      encrypted_secret_data: { [provider]: { ...secrets, [Object.keys(least)[0]!]: 7 } },
    });
    await ask('POST', connections, { ...body, encrypted_secret_data: 'text_planted' });
    await ask('PUT', `${connections}/${made.id}`, { encrypted_secret_data: { [provider]: secrets } });
    await ask('PUT', `${connections}/${made.id}`, { encrypted_secret_data: { webhook_secret: 'new_planted' } });
    await ask('PUT', `${connections}/conn_unknown`, { encrypted_secret_data: secrets });
    await ask('GET', `${connections}/${made.id}`);
    const create = `/v1/secrets/integrations/create/${provider}`;
    await ask('POST', create, { name: provider, provider, credentials: secrets });
    await ask('POST', create, { name: provider, provider: 'other', credentials: secrets });
    await ask('GET', `/v1/secrets/integrations/by-provider/${provider}`);
  }
  for (const path of [connections, '/v1/integrations/config', '/v1/secrets/integrations/linked'])
    await ask('GET', path);
  await ask('POST', `${connections}/search`, {});
  expect(answers.filter((answer) => answer.includes('conn_')).length).toBeGreaterThan(40);

  expect(lines.length).toBeGreaterThanOrEqual(answers.length);

  const rows = await everyRow();
  expect(rows).toContain('"object_type":"connection"');
  for (const text of [answers.join('\n'), lines.join('\n'), rows]) {
    expect(text).not.toContain('planted');
    expect(text).not.toContain(Buffer.from('planted').toString('hex'));
  }
});

/** Every row of every table as text. */
async function everyRow(): Promise<string> {
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    let text = '';
    for (const { name } of tables) {
      const { rows } = await client.query<{ row: object }>(`select to_jsonb(t) as row from ${name} t`);
      text += rows.map(({ row }) => JSON.stringify(row)).join('\n');
    }
    return text;
  } finally {
    await client.end();
  }
}

const s3 = (name: string) => ({ name, provider_type: 's3', encrypted_secret_data: examples.s3?.least });

it('two equal secrets are stored unalike, under the first key, and cannot change places', async () => {
  const [one, two] = [
    (await ask('POST', connections, s3('1'))).body.id,
    (await ask('POST', connections, s3('2'))).body.id,
  ];
  const [first, second] = [await stored(one), await stored(two)];
  expect([first.key, second.key, first.nonce.length]).toEqual(['current', 'current', 24]);
  expect(first.nonce).not.toBe(second.nonce);
  expect(first.ciphertext).not.toBe(second.ciphertext);
  await inTransaction(database, scope, (tx) =>
    tx.rows(
      `update connection t set secret_nonce = s.secret_nonce, secret_ciphertext = s.secret_ciphertext from connection s where t.id = $1 and s.id = $2`,
      [one, two],
    ),
  );
  await expect(kept(one)).rejects.toThrow();
  expect(await kept(two)).toEqual(examples.s3?.least);
});

it('secrets under a former key are sealed anew when their row is changed, and only then', async () => {
  const [, former] = secretEncryptionKeys;
  const formerly = await withKeys([former]);
  const { id } = (await formerly('POST', connections, s3('old'))).body;
  expect((await stored(id)).key).toBe('former');
  await ask('GET', `${connections}/${id}`);
  expect((await stored(id)).key).toBe('former');
  await ask('PUT', `${connections}/${id}`, {});
  const renewed = await stored(id);
  expect(renewed.key).toBe('current');
  expect(await kept(id)).toEqual(examples.s3?.least);
  await ask('PUT', `${connections}/${id}`, { name: 'again' });
  expect(await stored(id)).toEqual(renewed);
  const audit = await inTransaction(database, scope, (tx) =>
    tx.rows('select action, detail from audit_entry where object_id = $1 order by id', [id]),
  );
  expect(audit.map(({ action }) => action)).toEqual(['created', 're-encrypted', 'updated']);
  expect(audit[1]?.detail).toEqual({ provider_type: 's3', key_id: 'current' });
});

it('with the key of its secrets gone a connection is readable, and takes new secrets as a whole', async () => {
  const { least } = examples.moyasar!;
  await ask(
    'DELETE',
    `${connections}/${(await ask('GET', `${connections}?provider_type=moyasar`)).body.connections[0].id}`,
  );
  const body = { name: 'M', provider_type: 'moyasar', encrypted_secret_data: least };
  const { id } = (await ask('POST', connections, body)).body;
  const later = await withKeys([{ id: 'next', key: 'ee'.repeat(32) }]);
  expect((await later('GET', `${connections}/${id}`)).status).toBe(200);
  expect((await later('PUT', `${connections}/${id}`, { name: 'renamed' })).body.name).toBe('renamed');
  expect((await stored(id)).key).toBe('current');
  const refused = await later('PUT', `${connections}/${id}`, { encrypted_secret_data: { webhook_secret: 'w' } });
  expect([refused.status, refused.body.message]).toEqual([501, expect.stringContaining('SECRET_ENCRYPTION_KEYS')]);
  expect((await later('PUT', `${connections}/${id}`, { encrypted_secret_data: least })).status).toBe(200);
  expect((await stored(id)).key).toBe('next');
});

it('without any key no secret is taken, and what needs none still works', async () => {
  const keyless = await withKeys([]);
  const refused = await keyless('POST', connections, s3('x'));
  expect([refused.status, refused.body.code]).toEqual([501, 'not_implemented']);
  expect(refused.body.details.fields).toEqual({ encrypted_secret_data: 'needs SECRET_ENCRYPTION_KEYS' });
  const managed = { name: 'm', provider_type: 's3', sync_config: { s3: { is_platform_managed: true } } };
  expect((await keyless('POST', connections, managed)).status).toBe(201);
});
