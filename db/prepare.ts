import pg from 'pg';
import { databaseClient } from '../database-url.ts';
import { migrateDatabase } from './orm.ts';

/** The role that API and workers use: it owns nothing, so no row-level policy is bypassed. design: architecture §6 */
export const applicationRole = 'perennial_app';

export interface PrepareOptions {
  /** URL of a role that may create databases and roles, or that owns the database where both exist already. */
  ownerUrl: string;
  /** The database to prepare; without it, the one that `ownerUrl` names. */
  databaseName?: string;
  applicationPassword: string;
  /** `perennial_app` unless the operator chose another name. */
  applicationName?: string;
}

export interface PreparedDatabase {
  ownerUrl: string;
  applicationUrl: string;
  /** Names of the migrations this call ran. */
  migrations: string[];
}

/**
 * Makes a database ready for API and workers: creates it and the application role where they are missing, brings the
 * schema up to date and grants the role what it needs on every table. Running it again changes nothing.
 * Throws what PostgreSQL answers when the owner may not do so. design: architecture §8
 */
export async function prepareDatabase(options: PrepareOptions): Promise<PreparedDatabase> {
  const role = options.applicationName ?? applicationRole;
  const ownerUrl = withDatabase(options.ownerUrl, options.databaseName);
  await createDatabase(ownerUrl);
  await withClient(ownerUrl, (client) => createRole(client, role, options.applicationPassword));
  const migrations = await migrateDatabase(ownerUrl);
  await withClient(ownerUrl, (client) => grantEverything(client, role));
  const applicationUrl = new URL(ownerUrl);
  applicationUrl.username = role;
  applicationUrl.password = encodeURIComponent(options.applicationPassword);
  return { ownerUrl, applicationUrl: applicationUrl.href, migrations };
}

const unknownDatabase = '3D000';
const duplicateDatabase = '42P04';

async function createDatabase(ownerUrl: string): Promise<void> {
  try {
    await withClient(ownerUrl, async () => undefined);
  } catch (error) {
    if (codeOf(error) !== unknownDatabase) throw error;
    const name = decodeURIComponent(new URL(ownerUrl).pathname.slice(1));
    await withClient(withDatabase(ownerUrl, 'postgres'), (client) =>
      client.query(`create database ${pg.escapeIdentifier(name)}`).catch(unless(duplicateDatabase)),
    );
  }
}

async function createRole(client: pg.Client, role: string, password: string): Promise<void> {
  const { rows } = await client.query<{ bypasses: boolean }>(
    'select rolsuper or rolbypassrls as bypasses from pg_roles where rolname = $1',
    [role],
  );
  if (rows[0]?.bypasses) {
    throw new Error(
      `the role ${role} bypasses row-level security: use a role that is no superuser and has no BYPASSRLS`,
    );
  }
  // A new role has none of the attributes; naming them would need a superuser.
  const verb = rows[0] ? 'alter' : 'create';
  await client.query(`${verb} role ${pg.escapeIdentifier(role)} with login password ${pg.escapeLiteral(password)}`);
}

/** Grants on every schema of ours that exists now, and on what the owner creates in it later. */
async function grantEverything(client: pg.Client, role: string): Promise<void> {
  const name = pg.escapeIdentifier(role);
  const { rows } = await client.query<{ nspname: string }>(
    `select nspname from pg_namespace where nspname not like 'pg\\_%' and nspname <> 'information_schema' order by nspname`,
  );
  for (const { nspname } of rows) {
    const schema = pg.escapeIdentifier(nspname);
    await client.query(
      `grant usage on schema ${schema} to ${name};
       grant select, insert, update, delete on all tables in schema ${schema} to ${name};
       grant usage, select, update on all sequences in schema ${schema} to ${name};
       grant execute on all functions in schema ${schema} to ${name};
       alter default privileges in schema ${schema} grant select, insert, update, delete on tables to ${name};
       alter default privileges in schema ${schema} grant usage, select, update on sequences to ${name}`,
    );
  }
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = databaseClient(url);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function withDatabase(url: string, name: string | undefined): string {
  if (name === undefined) return url;
  const changed = new URL(url);
  changed.pathname = `/${encodeURIComponent(name)}`;
  return changed.href;
}

function unless(code: string): (error: unknown) => void {
  return (error) => {
    if (codeOf(error) !== code) throw error;
  };
}

function codeOf(error: unknown): string | undefined {
  return (error as { code?: string }).code;
}
