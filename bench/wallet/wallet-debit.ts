import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { newId } from '../../db/id.ts';
import { walletsById } from '../../services/wallet/wallet.ts';
import { sharedDebits } from '../../services/wallet/wallet-debit.ts';
import { compare, rateOf } from '../measure.ts';
import { type BenchDatabase, withBenchDatabase } from '../platform.ts';
import { makeWallet } from './wallet-subject.ts';

const debits = 2_000;
const connections = 8;
const wallets = 200;
const lots = 10;

/**
 * Manual debits of 0.01, each a commit, from eight connections at once: spread over 200 wallets, and all of one wallet. The product
 * takes them as `POST /wallets/{id}/debit` does, with lots, ledger, event, audit, marks and the wallet it answers; the reference is the least that keeps the
 * same books, one PL/pgSQL function on the same tables. Fails unless every invariant holds afterwards.
 */
export function run(): Promise<void> {
  return withBenchDatabase(async (base) => {
    const spread: string[] = [];
    for (let index = 0; index < wallets; index += 1) {
      const { walletId } = await makeWallet(base, { name: `customer-${index}`, lots, credits: '1000' });
      spread.push(walletId);
    }
    await withOwner(base, (owner) => owner.query(bareText));
    const debit = productDebits(base);
    const pool = new pg.Pool({ connectionString: base.applicationUrl, max: connections });
    try {
      for (const [name, ids] of [
        ['wallet-debit: one hot wallet', spread.slice(0, 1)],
        ['wallet-debit', spread],
      ] as const) {
        await compare({
          bench: name,
          reference: () => rateOf(debits, () => each(ids, (id) => bareDebit(pool, base, id))),
          product: () => rateOf(debits, () => each(ids, debit)),
        });
      }
    } finally {
      await pool.end();
    }
    await base.checkInvariants();
  });
}

async function each(ids: readonly string[], debit: (id: string) => Promise<unknown>): Promise<void> {
  const waiting = Array.from({ length: debits }, (_, index) => ids[(index * 7919) % ids.length] ?? '').values();
  const worker = async () => {
    for (const id of waiting) await debit(id);
  };
  await Promise.all(Array.from({ length: connections }, worker));
}

function productDebits({ database, scope }: BenchDatabase) {
  const debit = sharedDebits(database, walletsById);
  return (walletId: string) =>
    debit({ walletId, credits: '0.01', idempotencyKey: randomUUID(), description: '', metadata: {}, scope });
}

async function bareDebit(pool: pg.Pool, { scope }: BenchDatabase, walletId: string): Promise<void> {
  const client = await pool.connect();
  try {
    const ids = `'${scope.environmentId}', '${walletId}', '${newId('wtxn')}', '${newId('sys_event')}', '${randomUUID()}'`;
    await client.query(
      `begin; set local perennial.environment_id = '${scope.environmentId}'; select bench_debit(${ids}, 0.01); commit`,
    );
  } finally {
    client.release();
  }
}

async function withOwner(base: BenchDatabase, work: (owner: pg.Client) => Promise<unknown>): Promise<void> {
  const owner = new pg.Client({ connectionString: base.ownerUrl });
  await owner.connect();
  await work(owner).finally(() => owner.end());
}

// Locks the wallet, takes the first lot that has enough, writes the entry, the balance, the event and the audit. One lot is enough here.
const bareText = `
create function public.bench_debit(environment text, wallet_id text, entry_id text, event_id text, key text, credits numeric) returns void
language plpgsql as $$
declare
  w wallet; lot wallet_transaction; now timestamptz := clock_timestamp();
begin
  select * into strict w from wallet where id = bench_debit.wallet_id for update;
  select * into strict lot from wallet_transaction t where t.wallet_id = w.id and t.credits_available > credits
    order by t.priority nulls last, t.expiry_date nulls last, t.credit_amount desc, t.created_at limit 1;
  update wallet_transaction set credits_available = credits_available - credits, updated_at = now where id = lot.id;
  insert into wallet_transaction (id, tenant_id, environment_id, status, created_at, created_by, updated_at, updated_by, wallet_id, customer_id,
    currency, position, type, credit_amount, amount, credit_balance_before, credit_balance_after, transaction_status, transaction_reason,
    reference_type, reference_id, credits_available, conversion_rate, idempotency_key, description, consumed_lots, occurred_at, metadata)
  values (entry_id, w.tenant_id, w.environment_id, 'published', now, 'bench', now, 'bench', w.id, w.customer_id, w.currency, w.version + 1,
    'debit', credits, credits * w.conversion_rate, w.credit_balance, w.credit_balance - credits, 'completed', 'MANUAL_BALANCE_DEBIT',
    'EXTERNAL', key, 0, w.conversion_rate, key, '', jsonb_build_array(jsonb_build_object('id', lot.id, 'credits', credits::text)), now,
    jsonb_build_object('consumed_credit_tx_ids', lot.id));
  update wallet set credit_balance = credit_balance - credits, balance = (credit_balance - credits) * conversion_rate,
    version = version + 1, updated_at = now, updated_by = 'bench' where id = w.id;
  insert into outbox_sequence (environment_id, entity_id, last) values (environment, entry_id, 1);
  insert into outbox_event (id, tenant_id, environment_id, event_name, entity_type, entity_id, payload, occurred_at, created_at, sequence)
  values (event_id, w.tenant_id, w.environment_id, 'wallet.transaction.created', 'wallet_transaction', entry_id,
    jsonb_build_object('event_type', 'wallet.transaction.created', 'transaction', jsonb_build_object('id', entry_id, 'wallet_id', w.id)), now, now, 1);
  perform pg_notify('perennial_outbox', environment);
  insert into audit_entry (tenant_id, environment_id, object_type, object_id, version, action, actor, request_id, occurred_at, recorded_at, detail)
  values (w.tenant_id, w.environment_id, 'wallet', w.id, w.version + 1, 'debited', 'bench', 'bench', now, now,
    jsonb_build_object('transaction_id', entry_id));
end $$`;
