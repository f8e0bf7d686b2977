import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, inject } from 'vitest';
import type { InvariantId } from '../../db/check/invariant.ts';
import { type Database, openDatabase } from '../../db/orm.ts';
import { applicationRole } from '../../db/prepare.ts';
import type { Scope } from '../../db/scope.ts';
import { createSandbox } from '../../services/platform/tenant.ts';
import type { FakesByGateway } from './gateways/provider-books.ts';
import { assertInvariants } from './invariants.ts';
import { assertOutboxPayloads } from './outbox-payloads.ts';
import { recordEvents } from './recorded-events.ts';
import { applicationPassword, templateDatabase } from './servers.ts';

/** A database of one test file with a tenant of its own. */
export interface TestDatabase {
  /** Opened as the application's role, which row-level security binds. */
  database: Database;
  applicationUrl: string;
  /** The superuser's URL, for what the application may not do. */
  ownerUrl: string;
  /** The sandbox environment, acting as the user of its API key. */
  scope: Scope;
  apiKey: string;
}

interface TestDatabaseOptions {
  breaks?: readonly InvariantId[];
  fakes?: FakesByGateway;
  /** For a file that looks at plans: PostgreSQL makes them as in an installation, instead of once a connection. */
  plansAsInstalled?: boolean;
}

/**
 * Clones the migrated template for this file and makes a sandbox tenant in it. Call it at the top of a test file:
 * `const { database, scope } = await testDatabase();` After the file's last test every
 * invariant is checked, except those the file breaks on purpose, with the books of its `fakes`, and what its outbound events carry; the
 * database is closed and dropped.
 */
export async function testDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const { postgresUrl } = inject('servers');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await asSuperuser(postgresUrl, `create database ${name} template ${templateDatabase}`);
  if (options.plansAsInstalled) await asSuperuser(postgresUrl, `alter database ${name} set plan_cache_mode = auto`);
  const ownerUrl = new URL(postgresUrl);
  ownerUrl.pathname = name;
  const applicationUrl = new URL(ownerUrl);
  applicationUrl.username = applicationRole;
  applicationUrl.password = applicationPassword;
  const database = await openDatabase({ url: applicationUrl.href });
  afterAll(async () => {
    try {
      await assertInvariants(
        { database, applicationUrl: applicationUrl.href },
        { except: options.breaks, fakes: options.fakes },
      );
      await assertOutboxPayloads(database);
      await recordEvents(database, scope);
    } finally {
      await database.close();
      await asSuperuser(postgresUrl, `drop database ${name} with (force)`);
    }
  });
  const { tenantId, environmentId, userId, apiKey } = await createSandbox(database, { tenantName: 'Sandbox' });
  const scope = { tenantId, environmentId, actor: userId, requestId: '' };
  return { database, applicationUrl: applicationUrl.href, ownerUrl: ownerUrl.href, scope, apiKey };
}

/** Runs one statement as the superuser. */
export async function asSuperuser(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}
