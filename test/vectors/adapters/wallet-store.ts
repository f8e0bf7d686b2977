import { randomUUID } from 'node:crypto';
import { viewWallet } from '../../../api/wallet/wallet.schema.ts';
import {
  createWalletBody,
  debitBody,
  debitOf,
  newWallet,
  topupBody,
  topupOf,
} from '../../../api/wallet/wallet-input.schema.ts';
import { viewWalletTransaction } from '../../../api/wallet/wallet-transaction.schema.ts';
import { decimal, decimalString } from '../../../billing/money/money.ts';
import { refusalIn, statusOfCode } from '../../../billing/refusal.ts';
import { WalletTransaction } from '../../../db/entities/wallet/wallet-transaction.ts';
import { inTransaction, type Transaction } from '../../../db/transaction.ts';
import { terminateWallet } from '../../../services/across/wallet-terminate.ts';
import { createCustomer } from '../../../services/customer/customer.ts';
import { findWallet } from '../../../services/wallet/wallet.ts';
import { convertToPostpaid } from '../../../services/wallet/wallet-close.ts';
import { debitWallet } from '../../../services/wallet/wallet-debit.ts';
import { openWallet } from '../../../services/wallet/wallet-open.ts';
import { topUpWallet } from '../../../services/wallet/wallet-topup.ts';
import type { Adapters, Given } from '../adapter.ts';
import { apiWith } from './http.ts';

type Work = <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>;

/** Transactions over a database of this run, each of one operation. */
async function operations(): Promise<Work> {
  const { database, scope } = await apiWith(async () => undefined);
  return (work) => inTransaction(database, scope, work);
}

/** What an operation answers: 200, or the refusal. A body that does not fit is refused before it. */
async function answer(work: () => Promise<unknown>): Promise<Given> {
  try {
    return { http_status: 200, ...((await work()) as object) };
  } catch (error) {
    const refusal = refusalIn(error);
    if (refusal) return { http_status: statusOfCode[refusal.code], code: refusal.code };
    if ((error as Error).name !== 'ZodError') throw error;
    return { http_status: 400, code: 'validation_error' };
  }
}

/** Customers by the names a vector gives them. */
function people(inOne: Work) {
  const known = new Map<string, Promise<string>>();
  const make = () => inOne(async (tx) => (await createCustomer(tx, { externalId: randomUUID(), name: 'Customer' })).id);
  return (name: string): Promise<string> => {
    const id = known.get(name) ?? make();
    known.set(name, id);
    return id;
  };
}

async function open(inOne: Work, body: Given): Promise<string> {
  return inOne((tx) => openWallet(tx, newWallet(createWalletBody.parse(body))));
}

/** A wallet with a balance, which only a debit by hand makes negative, and a status. */
async function walletOf(inOne: Work, given: Given): Promise<string> {
  const customer_id = await people(inOne)('cust_1');
  const balance = decimal(given.credit_balance ?? '0');
  const { conversion_rate, topup_conversion_rate, wallet_type } = given;
  const initial_credits_to_load = balance.isNegative() ? '0' : decimalString(balance);
  const body = {
    customer_id,
    currency: 'usd',
    conversion_rate,
    topup_conversion_rate,
    wallet_type,
    initial_credits_to_load,
  };
  const id = await open(inOne, body);
  if (balance.isNegative()) {
    const credits = decimalString(balance.negated());
    const facts = { walletId: id, credits, idempotencyKey: randomUUID(), description: '', metadata: {} };
    await inOne((tx) => debitWallet(tx, facts));
  }
  await setStatus(inOne, id, given.wallet_status);
  return id;
}

async function setStatus(inOne: Work, id: string, status: string | undefined): Promise<void> {
  if (status) await inOne((tx) => tx.rows('update wallet set wallet_status = $2 where id = $1', [id, status]));
}

const read = (inOne: Work, id: string) => inOne(async (tx) => viewWallet(await findWallet(tx, id)));
const ledger = (inOne: Work, walletId: string) =>
  inOne(async (tx) => {
    const rows = await tx.em.find(WalletTransaction, { walletId }, { orderBy: { position: 'asc' } });
    return rows.map((row) => viewWalletTransaction(row));
  });

async function createDefaults({ body }: Given): Promise<unknown> {
  const inOne = await operations();
  const id = await open(inOne, { ...body, customer_id: await people(inOne)(body.customer_id) });
  const entries = await ledger(inOne, id);
  const ids = [id, ...entries.map((entry) => entry.id)];
  const events = await inOne((tx) =>
    tx.rows('select event_name from outbox_event where entity_id = any($1) order by id', [ids]),
  );
  return {
    http_status: 200,
    wallet: await read(inOne, id),
    transactions: entries,
    events: events.map((event) => event.event_name),
  };
}

async function createErrors({ existing, bodies }: Given): Promise<unknown> {
  const inOne = await operations();
  const customer = people(inOne);
  const named = async (body: Given) =>
    body.customer_id ? { ...body, customer_id: await customer(body.customer_id) } : body;
  for (const { wallet_status, ...body } of existing) {
    await setStatus(inOne, await open(inOne, await named(body)), wallet_status);
  }
  const results = [];
  for (const body of bodies) {
    const sent = await named(body);
    const { http_status, code } = await answer(async () => ({ id: await open(inOne, sent) }));
    results.push(code ? { http_status, code } : { http_status });
  }
  return { results };
}

async function idempotency(given: Given): Promise<unknown> {
  const inOne = await operations();
  const id = await walletOf(inOne, given);
  const run = randomUUID();
  const before = decimal((await read(inOne, id)).credit_balance);
  const answers: Given[] = [];
  for (const { idempotency_key: key, ...call } of given.calls) {
    const body = { ...call, idempotency_key: key === null ? null : `${run} ${key}` };
    const perform = given.op.endsWith('top-up')
      ? (tx: Transaction) =>
          topUpWallet(tx, topupOf(id, topupBody.parse({ transaction_reason: 'FREE_CREDIT_GRANT', ...body }), null))
      : (tx: Transaction) =>
          debitWallet(tx, debitOf(id, debitBody.parse({ transaction_reason: 'MANUAL_BALANCE_DEBIT', ...body })));
    answers.push(
      await answer(async () => {
        await inOne<unknown>(perform);
        return {};
      }),
    );
  }
  const after = decimal((await read(inOne, id)).credit_balance);
  return {
    statuses: answers.map(({ http_status }) => http_status),
    codes: answers.map(({ code }) => code ?? null),
    credits_added: decimalString(after.minus(before)),
    credit_balance_after: decimalString(after),
  };
}

async function terminate(given: Given): Promise<unknown> {
  const inOne = await operations();
  const id = await walletOf(inOne, given);
  const entries = (await ledger(inOne, id)).length;
  const end = () =>
    answer(async () => {
      await inOne((tx) => terminateWallet(tx, id));
      return read(inOne, id);
    });
  const first = await end();
  if (first.code) return first;
  const transaction = (await ledger(inOne, id))[entries] ?? null;
  return { ...first, transaction, second_call: await end() };
}

async function modify(given: Given): Promise<unknown> {
  const inOne = await operations();
  const id = await walletOf(inOne, given);
  const entries = (await ledger(inOne, id)).length;
  const newId = await inOne((tx) => convertToPostpaid(tx, id));
  const [original, fresh] = [await read(inOne, id), await read(inOne, newId)];
  const taken = (await ledger(inOne, id)).slice(entries).map((entry) => ({ ...entry, wallet: 'original' }));
  const received = (await ledger(inOne, newId)).map((entry) => ({ ...entry, wallet: 'new' }));
  return {
    original,
    new: { ...fresh, allowed_price_types: fresh.config.allowed_price_types },
    transactions: [...taken, ...received],
  };
}

/** Kinds that need a database: bodies and calls go to the stores as the routes send them. */
export const walletStoreAdapters: Adapters = {
  wallet_create_defaults: createDefaults,
  wallet_create_errors: createErrors,
  idempotency,
  terminate,
  wallet_modify: modify,
};
