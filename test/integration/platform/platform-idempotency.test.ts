import { describe, expect, it } from 'vitest';
import { inTransaction } from '../../../db/transaction.ts';
import { testApi } from '../../support/api.ts';

const { call, database, scope } = await testApi();

const create = (key: string, body: object) =>
  call('POST', '/v1/customers', { body, headers: { 'idempotency-key': key } });
const countOf = async (externalId: string) =>
  (await call('GET', `/v1/customers?external_id=${externalId}`)).body.pagination.total;

describe('Idempotency-Key', () => {
  it('gives the same answer to the same request, whatever the order of its members', async () => {
    const first = await create('k-1', { external_id: 'idem', name: 'I' });
    const second = await create('k-1', { name: 'I', external_id: 'idem' });
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toEqual(first.body);
    expect(second.headers['content-type']).toBe(first.headers['content-type']);
    expect(await countOf('idem')).toBe(1);
  });

  it('refuses another body and another path', async () => {
    await create('k-2', { external_id: 'two', name: 'I' });
    const other = await create('k-2', { external_id: 'two', name: 'J' });
    expect([other.status, other.body.code]).toEqual([409, 'already_exists']);
    const path = await call('POST', '/v1/environments', {
      body: { external_id: 'two', name: 'I' },
      headers: { 'idempotency-key': 'k-2' },
    });
    expect(path.status).toBe(400);
  });

  it('keeps nothing of a refusal: the corrected request may use it', async () => {
    expect((await create('k-3', { external_id: 'three' })).status).toBe(400);
    expect((await create('k-3', { external_id: 'three', name: 'T' })).status).toBe(201);
  });

  it('answers eight identical requests at once with the same customer', async () => {
    const body = { external_id: 'race', name: 'R' };
    const answers = await Promise.all(Array.from({ length: 8 }, () => create('k-4', body)));
    for (const answer of answers) expect([answer.status, answer.body]).toEqual([201, answers[0]?.body]);
    expect(await countOf('race')).toBe(1);
  });

  it('refuses the second when the first is still under way after five seconds', async () => {
    await inTransaction(database, scope, async (tx) => {
      await tx.rows('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
        `idempotency ${scope.environmentId} k-5`,
      ]);
      const answer = await create('k-5', { external_id: 'held', name: 'H' });
      expect([answer.status, answer.body.code]).toEqual([409, 'already_exists']);
    });
    expect((await create('k-5', { external_id: 'held', name: 'H' })).status).toBe(201);
  });

  it('is forgotten with the effect when the process dies before the commit', async () => {
    const died = inTransaction(database, scope, async (tx) => {
      await tx.rows(
        `insert into idempotent_request (environment_id, key, request_hash, status_code, body, created_at)
         values ($1, 'k-6', 'x', 201, '{}', now())`,
        [scope.environmentId],
      );
      throw new Error('killed');
    });
    await expect(died).rejects.toThrow('killed');
    expect((await create('k-6', { external_id: 'six', name: 'S' })).status).toBe(201);
  });

  it('repeats an empty answer', async () => {
    const { body } = await call('POST', '/v1/customers', { body: { external_id: 'del', name: 'D' } });
    const remove = () => call('DELETE', `/v1/customers/${body.id}`, { headers: { 'idempotency-key': 'k-7' } });
    expect((await remove()).status).toBe(204);
    const again = await remove();
    expect([again.status, again.body]).toEqual([204, null]);
  });

  it('never keeps a credential', async () => {
    const options = { body: { name: 'K', type: 'private_key' }, headers: { 'idempotency-key': 'k-8' } };
    const first = await call('POST', '/v1/secrets/api/keys', options);
    expect(first.status).toBe(201);
    const again = await call('POST', '/v1/secrets/api/keys', options);
    expect([again.status, again.body.code, again.body.http_status_code]).toEqual([409, 'already_exists', 409]);
    const rows = await inTransaction(database, scope, (tx) => tx.rows('select body from idempotent_request', []));
    expect(JSON.stringify(rows)).not.toContain(first.body.api_key);
  });

  it('gives way to the idempotency_key of a body and must not be too long', async () => {
    const customer = (await call('POST', '/v1/customers', { body: { external_id: 'own', name: 'O' } })).body;
    const wallet = (await call('POST', '/v1/wallets', { body: { customer_id: customer.id, currency: 'usd' } })).body;
    const topUp = (idempotency_key: string) =>
      call('POST', `/v1/wallets/${wallet.id}/top-up`, {
        body: { credits_to_add: '5', transaction_reason: 'FREE_CREDIT_GRANT', idempotency_key },
        headers: { 'idempotency-key': 'k-9' },
      });
    const [first, other] = [await topUp('mine'), await topUp('other')];
    expect([first.status, other.status]).toEqual([200, 200]);
    expect(other.body.wallet_transaction.id).not.toBe(first.body.wallet_transaction.id);
    expect((await create('x'.repeat(256), { external_id: 'long', name: 'L' })).status).toBe(400);
  });
});
