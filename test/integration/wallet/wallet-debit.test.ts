import { expect, test } from 'vitest';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { testApi } from '../../support/api.ts';
import { wallets } from './wallet.fixture.ts';

const testedApi = await testApi();
const { call, database, scope } = testedApi;
const { opened, debit, read, ledger } = wallets(testedApi);

test('forty debits of one wallet at once are forty entries, each from the balance that the one before left', async () => {
  const { id } = await opened({ initial_credits_to_load: '30' });
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) => debit(id, '1', { idempotency_key: `at-once-${index}` })),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(40).fill(200));
  const entries = (await ledger(id)).slice(1);
  expect(new Set(entries.map((entry: { idempotency_key: string }) => entry.idempotency_key)).size).toBe(40);
  const balances = entries.map((entry: { credit_balance_after: string }) => Number(entry.credit_balance_after));
  expect(balances).toEqual(Array.from({ length: 40 }, (_, index) => 29 - index));
  expect((await read(id)).credit_balance).toBe('-10');

  const audited = await inSqlTransaction(database, scope, (tx) =>
    tx.rows(`select request_id from audit_entry where object_id = $1 and action = 'debited'`, [id]),
  );
  expect(new Set(audited.map((row) => row.request_id)).size).toBe(40);
});

test('a debit that is refused is refused alone', async () => {
  const { id } = await opened({ initial_credits_to_load: '30' });
  await debit(id, '1', { idempotency_key: 'used-before' });
  const keys = ['first', 'twice', 'used-before', 'twice', 'last'];
  const answers = await Promise.all(keys.map((key) => debit(id, '2', { idempotency_key: key })));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 409, 409]);
  expect(answers[2]?.status).toBe(409);
  expect((await read(id)).credit_balance).toBe('23');
});

test('nobody debits a wallet of another environment, or one that is not there, whoever else does at the time', async () => {
  const { id } = await opened({ initial_credits_to_load: '30' });
  const stranger = await testedApi.otherTenant();
  const body = { credits: '1', transaction_reason: 'MANUAL_BALANCE_DEBIT' };
  const [own, foreign, unknown] = await Promise.all([
    debit(id, '1'),
    call('POST', `/v1/wallets/${id}/debit`, { body: { ...body, idempotency_key: 'foreign' }, apiKey: stranger.apiKey }),
    debit('wallet_none', '1'),
  ]);
  expect([own.status, foreign.status, unknown.status]).toEqual([200, 404, 404]);
  expect((await read(id)).credit_balance).toBe('29');
});

test('debits of different wallets at once are entered each in its own, but for those that are refused', async () => {
  const owned = await Promise.all(Array.from({ length: 5 }, () => opened({ initial_credits_to_load: '30' })));
  const [frozen = '', ...free] = owned.map(({ id }: { id: string }) => id);
  await call('PUT', `/v1/wallets/${frozen}`, { body: { wallet_status: 'frozen' } });
  const answers = await Promise.all([...free, frozen, ...free].map((id, index) => debit(id, `${index + 1}`)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 400, 200, 200, 200, 200]);
  for (const [index, id] of free.entries()) {
    expect((await read(id)).credit_balance).toBe(`${30 - (index + 1) - (index + 6)}`);
    expect(answers[index]?.body).toMatchObject({ id, customer_id: owned[index + 1]?.customer_id });
  }
  expect((await read(frozen)).credit_balance).toBe('30');
});

test('a wallet that another transaction has keeps nobody waiting but the debits of its own', async () => {
  const [held, free] = [
    await opened({ initial_credits_to_load: '30' }),
    await opened({ initial_credits_to_load: '30' }),
  ];
  const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holder = inSqlTransaction(database, scope, async (tx) => {
    await tx.rows('select id from wallet where id = $1 for update', [held.id]);
    locked.resolve();
    await released.promise;
  });
  await locked.promise;
  const ended: string[] = [];
  const waiting = debit(held.id, '1').then(({ status }) => ended.push(`held ${status}`));
  const others = await Promise.all(Array.from({ length: 3 }, () => debit(free.id, '1')));
  expect(others.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(ended).toEqual([]);
  released.resolve();
  await Promise.all([waiting, holder]);
  expect(ended).toEqual(['held 200']);
  expect([(await read(held.id)).credit_balance, (await read(free.id)).credit_balance]).toEqual(['29', '27']);
});
