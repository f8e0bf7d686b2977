import { Pool } from 'pg';
import { databaseConnection } from '../../database-url.ts';

/** A card as the gateway keeps it: how it behaves, not its number. */
export interface CardRow {
  token: string;
  behaviour: string;
  remaining: number;
}

/** A hosted link as the gateway keeps it. */
export interface LinkRow {
  intent_token: string;
  id: string;
  mode: 'payment' | 'setup';
  amount: string;
  currency: string;
  url: string;
  expires_at: string;
  closed: boolean;
  waiting_card: string | null;
  saved_card: string | null;
  /** The method that is kept: of a setup, or of the charge that paid. */
  kept: { token: string; brand: string; lastFour: string } | null;
  charges: LinkedCharge[];
}

/** An attempt to pay a link. */
export interface LinkedCharge {
  id: string;
  amount: string;
  currency: string;
  state: ChargeRow['state'];
  declineReason: string | null;
  capturedAt: string | null;
}

/** A charge as the gateway keeps it; `captured` is the only state in which money moved. */
export interface ChargeRow {
  id: string;
  intent_token: string;
  card_token: string;
  amount: string;
  currency: string;
  state: 'captured' | 'declined' | 'requires_action' | 'processing';
  decline_reason: string | null;
  look_ups_left: number | null;
  behaviour: string;
}

/**
 * The gateway's own database: a schema of its own through a connection of its own, so that nothing of the product shares a
 * transaction with it, exactly as with a foreign system.
 */
export interface SandboxStore {
  rows<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  close(): Promise<void>;
}

/** Opens the store; its tables are created at first use, which needs a role that may create a schema, or `installSandboxGateway` before. */
export function openSandboxStore(options: { url: string; poolSize?: number }): SandboxStore {
  const pool = new Pool({
    ...databaseConnection(options.url),
    max: options.poolSize ?? 4,
    application_name: 'sandbox-gateway',
  });
  // An idle connection that breaks is replaced by the pool at the next use; without a listener it would end the process.
  pool.on('error', () => undefined);
  let installed: Promise<void> | null = null;
  return {
    async rows<Row extends object>(text: string, values: readonly unknown[] = []) {
      installed ??= install(pool).catch((error: unknown) => {
        installed = null;
        throw error;
      });
      await installed;
      return (await pool.query<Row>(text, [...values])).rows;
    },
    close: () => pool.end(),
  };
}

/** Creates the gateway's schema with the owner's role and lets `role` use it. */
export async function installSandboxGateway(ownerUrl: string, role?: string): Promise<void> {
  const pool = new Pool({ ...databaseConnection(ownerUrl), max: 1 });
  try {
    await install(pool);
    if (role) await pool.query(grantText(role));
  } finally {
    await pool.end();
  }
}

async function install(pool: Pool): Promise<void> {
  const present = await pool.query<{ present: boolean }>(
    "select to_regclass('sandbox_gateway.fault') is not null as present",
  );
  if (present.rows[0]?.present) return;
  await pool.query(installText);
}

function grantText(role: string): string {
  const name = `"${role.replaceAll('"', '""')}"`;
  return `grant usage on schema sandbox_gateway to ${name};
    grant select, insert, update on all tables in schema sandbox_gateway to ${name};
    grant usage on all sequences in schema sandbox_gateway to ${name}`;
}

// One simple query is one transaction; the lock lets processes that start together install once.
const installText = `
select pg_advisory_xact_lock(hashtext('sandbox_gateway'));
create schema if not exists sandbox_gateway;
create table if not exists sandbox_gateway.card (
  token text primary key,
  behaviour text not null,
  remaining integer not null,
  brand text not null,
  last_four text not null,
  created_at timestamptz not null default clock_timestamp()
);
create table if not exists sandbox_gateway.charge (
  id text primary key,
  intent_token text not null unique,
  card_token text not null references sandbox_gateway.card (token),
  amount numeric not null check (amount > 0),
  currency text not null,
  state text not null,
  behaviour text not null,
  decline_reason text,
  look_ups_left integer,
  description text not null,
  metadata jsonb not null,
  created_at timestamptz not null default clock_timestamp(),
  captured_at timestamptz
);
create table if not exists sandbox_gateway.capture (
  intent_token text primary key references sandbox_gateway.charge (intent_token),
  amount numeric not null,
  currency text not null,
  captured_at timestamptz not null default clock_timestamp()
);
create table if not exists sandbox_gateway.refund (
  token text primary key,
  id text not null unique,
  intent_token text not null references sandbox_gateway.capture (intent_token),
  amount numeric not null check (amount > 0),
  currency text not null,
  state text not null,
  failure_reason text,
  look_ups_left integer,
  created_at timestamptz not null default clock_timestamp()
);
create index if not exists refund_intent on sandbox_gateway.refund (intent_token);
create table if not exists sandbox_gateway.notification (
  id bigint generated always as identity primary key,
  intent_token text not null,
  state text not null,
  created_at timestamptz not null default clock_timestamp(),
  taken_at timestamptz
);
create index if not exists notification_waiting on sandbox_gateway.notification (id) where taken_at is null;
create table if not exists sandbox_gateway.call (
  id bigint generated always as identity primary key,
  kind text not null,
  intent_token text,
  request jsonb not null,
  answer text not null,
  called_at timestamptz not null default clock_timestamp()
);
create index if not exists call_intent on sandbox_gateway.call (intent_token, id);
create table if not exists sandbox_gateway.link (
  intent_token text primary key,
  id text not null unique,
  mode text not null,
  amount numeric not null check (amount >= 0),
  currency text not null,
  url text not null,
  expires_at timestamptz not null,
  saves_method boolean not null,
  closed_at timestamptz,
  waiting_card text references sandbox_gateway.card (token),
  saved_card text references sandbox_gateway.card (token),
  description text not null,
  metadata jsonb not null,
  created_at timestamptz not null default clock_timestamp()
);
alter table sandbox_gateway.charge add column if not exists link_token text references sandbox_gateway.link (intent_token);
alter table sandbox_gateway.charge add column if not exists beside boolean not null default false;
create index if not exists charge_link on sandbox_gateway.charge (link_token, created_at) where link_token is not null;
create unique index if not exists charge_of_link on sandbox_gateway.charge (link_token)
  where link_token is not null and not beside and state <> 'declined';
create table if not exists sandbox_gateway.fault (
  id bigint generated always as identity primary key,
  call text not null,
  intent_token text,
  how text not null,
  remaining integer not null
);
`;
