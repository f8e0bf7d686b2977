import { execFile } from 'node:child_process';
import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { checkInvariants } from '../../../activities/check/check.ts';
import { checkUsage } from '../../../activities/check/check-usage.ts';
import { checkWorkflows } from '../../../activities/check/check-workflows.ts';
import { checkRows, rowRules } from '../../../db/check/check-rows.ts';
import { otherIdColumns, references } from '../../../db/check/reference-rules.ts';
import { systemScope } from '../../../db/scope.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import { sandboxOperator } from '../../../integrations/sandbox-gateway/operator.ts';
import { openSandboxStore } from '../../../integrations/sandbox-gateway/store.ts';
import { openPostgresUsageStore } from '../../../metering/postgres/usage-store.ts';
import { creditPrepaidWallet } from '../../../services/ledger/wallet-credit.ts';
import { createSandbox } from '../../../services/platform/tenant.ts';
import { advanceTo, clockedCustomer, created, monthlyPlan, testPlatform } from '../../support/billing.ts';
import { violationsOf } from '../../support/invariants.ts';
import { keptNotification } from '../integration/inbound-invariants.fixture.ts';
import { invoiceOf, payAtSandbox } from '../payment/checkout/checkout.fixture.ts';
import { disputePayment } from '../payment/dispute-invariants.fixture.ts';
import { filledWallet } from '../wallet/auto-top-up-invariants.fixture.ts';
import { plantings, type World } from './invariants.fixture.ts';

const { api, base, gateway, temporal } = await testPlatform();
const metering = openPostgresUsageStore(base.database);
const graceMs = 60_000;

/** Two customers on one plan: one pays by card for what it used, one is sent invoices. */
const world: World = {
  subscriptionId: '',
  otherSubscriptionId: '',
  invoiceId: '',
  paymentId: '',
  lineId: '',
  meterId: '',
  walletId: '',
  debitId: '',
  sessionId: '',
  notificationId: '',
  attemptId: '',
};

beforeAll(async () => {
  const { planId, meterId } = await monthlyPlan(api);
  const meter = await api<{ event_name: string }>('GET', `/meters/${meterId}`);
  const { clockId, customerId, externalId } = await clockedCustomer(api, {
    frozenTime: '2026-01-01T00:00:00Z',
    card: sandboxCardNumber('succeeds'),
  });
  const other = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z', clockId });
  const terms = { plan_id: planId, currency: 'usd', billing_period: 'MONTHLY' };
  const subscription = await created(api, '/subscriptions', { ...terms, customer_id: customerId });
  const sent = { ...terms, customer_id: other.customerId, collection_method: 'send_invoice' };
  world.otherSubscriptionId = (await created(api, '/subscriptions', sent)).id;
  const used = [...['05', '06', '20'].map((day) => [externalId, day]), [other.externalId, '07']];
  for (const [external_customer_id, day] of used) {
    await created(api, '/events', {
      event_name: meter.body.event_name,
      external_customer_id,
      timestamp: `2026-01-${day}T10:00:00Z`,
    });
  }
  world.attemptId = await filledWallet(api);
  const credit = { currency: 'usd', amount: '5', cause: 'refund', causeId: 'refund_1', description: '' } as const;
  const credited = {
    ...credit,
    customerId: other.customerId,
    idempotencyKey: 'refund_1',
    at: '2026-01-01T00:00:00.000Z',
  };
  await inSqlTransaction(base.database, base.scope, (tx) => creditPrepaidWallet(tx, base.scope, credited));
  const gated = await created<{ checkout_session: { id: string; checkout_payment_id: string } }>(
    api,
    '/invoices',
    invoiceOf(other.customerId),
  );
  await payAtSandbox(gateway, gated.checkout_session);
  await api('GET', `/checkout/sessions/${gated.checkout_session.id}`);
  await advanceTo(api, clockId, '2026-03-10T00:00:00Z');
  const [row] = await read<{ invoice: string; payment: string; line: string }>(
    `select i.id as invoice, p.id as payment, l.id as line from invoice i join payment p on p.destination_id = i.id
     join invoice_line_item l on l.invoice_id = i.id and l.price_type = 'USAGE' and l.amount > 0
     where i.subscription_id = $1 and p.payment_status = 'SUCCEEDED' order by i.id limit 1`,
    [subscription.id],
  );
  const [debit] = await read<{ id: string; wallet_id: string }>(
    `select id, wallet_id from wallet_transaction where type = 'debit' and reference_type = 'INVOICE'`,
  );
  Object.assign(world, {
    walletId: debit?.wallet_id,
    debitId: debit?.id,
    subscriptionId: subscription.id,
    invoiceId: row?.invoice,
    paymentId: row?.payment,
    lineId: row?.line,
    meterId,
    sessionId: gated.checkout_session.id,
    notificationId: await keptNotification(base, api),
  });
  await disputePayment(base, world.paymentId);
});

function read<Row extends object>(text: string, values: unknown[] = []) {
  return inSqlTransaction(base.database, base.scope, (tx) => tx.rows<Row & Record<string, unknown>>(text, values));
}

/** What the row rules find after a statement of the owner, which is taken back again. */
async function planted(text: string, values: unknown[] = []) {
  const client = new pg.Client({ connectionString: base.ownerUrl });
  await client.connect();
  try {
    await client.query('begin');
    // What is planted is what the triggers of finalized documents refuse.
    await client.query('set local session_replication_role = replica');
    await client.query(text, values);
    const rows = async <Row>(sql: string, parameters: readonly unknown[] = []) =>
      (await client.query(sql, [...parameters])).rows as Row[];
    return violationsOf(await checkRows({ rows }, { graceMs }));
  } finally {
    await client.query('rollback');
    await client.end();
  }
}

describe('a planted violation is found and named', () => {
  test.each(plantings)('$id: $what', async ({ id, sql, by, names = by }) => {
    const found = (await planted(sql.replaceAll('$1', world[by]))).filter((violation) => violation.id === id);
    const wanted = names instanceof RegExp ? names : new RegExp(world[names]);
    expect(found.map(({ text }) => text).join('\n')).toMatch(wanted);
  });

  test('I14: a reference into another tenant', async () => {
    const other = await createSandbox(base.database, { tenantName: 'Other' });
    const found = await planted(
      'update customer set tenant_id = $1, environment_id = $2 where id = (select customer_id from subscription where id = $3)',
      [other.tenantId, other.environmentId, world.subscriptionId],
    );
    expect(
      found
        .filter(({ id }) => id === 'I14')
        .map(({ text }) => text)
        .join('\n'),
    ).toContain(`names a customer of ${other.tenantId}, ${other.environmentId}`);
  });
});

test('every rule is about something here, except those whose nouns are absent', async () => {
  const findings = await checkInvariants({ database: base.database, metering });
  expect(violationsOf(findings)).toEqual([]);
  const ids = [...new Set(rowRules.map(({ id }) => id))];
  const examined = (id: string) => findings.filter((f) => f.id === id).reduce((sum, f) => sum + f.examined, 0);
  expect(ids.filter((id) => examined(id) === 0)).toEqual([]);
  expect(examined('I4')).toBeGreaterThan(0);
  expect(examined('I5')).toBeGreaterThan(0);
});

test('no rule looks for the partners of a row one row at a time, however small the planner takes the tables to be', async () => {
  const slow = await inSqlTransaction(base.database, systemScope, async (tx) => {
    await checkRows(tx, { graceMs });
    const found: string[] = [];
    for (const { rule, violations } of rowRules) {
      const plan = await tx.rows<{ 'QUERY PLAN': string }>(`explain ${violations}`);
      if (plan.some((line) => /Merge|Nested Loop (Anti|Semi)/.test(line['QUERY PLAN']))) found.push(rule);
    }
    return found;
  });
  expect(slow).toEqual([]);
});

test('every id column is checked by I14 or is known to name nothing of ours', async () => {
  const columns = await read<{ name: string }>(
    `select table_name || '.' || column_name as name from information_schema.columns
     where table_schema = 'public' and column_name like '%\\_id' and column_name not in ('tenant_id', 'environment_id')
       and table_name not like 'mikro%' order by 1`,
  );
  const checked = new Set(references.map(({ table, column }) => `${table}.${column}`));
  expect(columns.map(({ name }) => name).filter((name) => !checked.has(name) && !otherIdColumns.has(name))).toEqual([]);
});

describe('usage', () => {
  const change = async (text: string, values: unknown[] = []) => {
    const client = new pg.Client({ connectionString: base.ownerUrl });
    await client.connect();
    await client.query('set session_replication_role = replica');
    await client.query(text, values);
    await client.end();
  };
  const usage = async () => violationsOf(await checkUsage(base.database, metering, base.scope));

  test('I4: a roll-up that lost a count, and a key that lost its event', async () => {
    await change('update usage.rollup set n = n + 1');
    expect((await usage()).filter(({ id }) => id === 'I4').map(({ object }) => object)).toContain(world.meterId);
    await change('update usage.rollup set n = n - 1');
    await change(
      `insert into usage.event_key (env, key) select min(number), '00000000-0000-0000-0000-000000000001' from environment`,
    );
    expect((await usage()).map(({ text }) => text)).toEqual([expect.stringContaining('its event is missing')]);
    await change(`delete from usage.event_key where key = '00000000-0000-0000-0000-000000000001'`);
    expect(await usage()).toEqual([]);
  });

  test('I5: a finalized line that bills another quantity than its events at its watermark', async () => {
    const replace = (from: string, to: string) =>
      change('update invoice_line_item set derivation = replace(derivation::text, $2, $3)::jsonb where id = $1', [
        world.lineId,
        from,
        to,
      ]);
    const [before] = await read<{ quantity: string }>('select quantity::text from invoice_line_item where id = $1', [
      world.lineId,
    ]);
    expect(before?.quantity).toBe('3');
    await replace('"quantity": "3"', '"quantity": "4"');
    expect((await usage()).map(({ id, object }) => `${id} ${object}`)).toEqual([`I5 ${world.lineId}`]);
    await replace('"quantity": "4"', '"quantity": "3"');
    expect(await usage()).toEqual([]);
  });
});

test('I9: a capture nobody recorded, and a record nobody captured', async () => {
  const books = openSandboxStore({ url: base.ownerUrl, poolSize: 1 });
  const check = async () => {
    const findings = await checkInvariants({ database: base.database, metering, gateway: sandboxOperator(books) });
    return violationsOf(findings)
      .filter(({ id }) => id === 'I9')
      .map(({ text }) => text);
  };
  const [payment] = await read<{ intent_token: string }>('select intent_token from payment where id = $1', [
    world.paymentId,
  ]);
  const rename = (from: string, to: string) =>
    inSqlTransaction(base.database, base.scope, (tx) =>
      tx.rows('update payment set intent_token = $2 where intent_token = $1', [from, to]),
    );
  expect(await check()).toEqual([]);
  const token = String(payment?.intent_token);
  await rename(token, 'another');
  expect(await check()).toEqual([
    expect.stringContaining(`captured for intent ${token}, of which no payment knows`),
    expect.stringContaining(`${world.paymentId}: SUCCEEDED, but the gateway never captured its intent`),
  ]);
  await rename('another', token);
  await books.close();
});

test('I20: a workflow that waits for something else than its row says', async () => {
  const check = (patienceMs: number) => checkWorkflows(base.database, temporal.client, { patienceMs });
  const sound = await check(10_000);
  expect(sound.violations).toEqual([]);
  expect(sound.examined).toBeGreaterThan(1);
  const move = (by: string) =>
    inSqlTransaction(base.database, base.scope, (tx) =>
      tx.rows(`update agenda_entry set due_at = due_at + $2::interval where object_id = $1 and kind = 'closePeriod'`, [
        world.subscriptionId,
        by,
      ]),
    );
  await move('1 hour');
  expect((await check(0)).violations.map(({ object }) => object)).toEqual([world.subscriptionId]);
  await move('-1 hour');
});

test('npm run check prints a line an invariant, and ends with 1 and the object when one does not hold', async () => {
  const check = () =>
    new Promise<{ code: number; lines: string[] }>((resolve) => {
      const env = {
        ...process.env,
        DATABASE_URL: base.applicationUrl,
        TEMPORAL_ADDRESS: temporal.address,
        TEMPORAL_NAMESPACE: temporal.namespace,
      };
      execFile(process.execPath, ['dev/check.ts'], { env }, (error, stdout) =>
        resolve({ code: Number(error?.code ?? 0), lines: stdout.trim().split('\n') }),
      );
    });
  const setVersion = (by: number) =>
    inSqlTransaction(base.database, base.scope, (tx) =>
      tx.rows('update subscription set version = version + $2 where id = $1', [world.subscriptionId, by]),
    );
  const sound = await check();
  expect(sound.lines.at(-1)).toBe('Every invariant holds.');
  expect(sound.code).toBe(0);
  for (let number = 1; number <= 20; number += 1) {
    expect(sound.lines.filter((line) => line.startsWith(`I${number} `))).toHaveLength(1);
  }
  await setVersion(1);
  const broken = await check();
  expect(broken.lines.join('\n')).toContain(`${world.subscriptionId}: version is`);
  expect(broken.code).toBe(1);
  await setVersion(-1);
});
