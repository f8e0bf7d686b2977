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
