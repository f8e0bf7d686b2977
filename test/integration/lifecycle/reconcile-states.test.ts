import pg from 'pg';
import { expect, test } from 'vitest';
import { reconcile } from '../../../activities/check/reconcile.ts';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import {
  advanceTo,
  clockedCustomer,
  created,
  invoicesOf,
  monthlyPlan,
  subscribe,
  subscriptionOf,
  testPlatform,
} from '../../support/billing.ts';
import { assertWorkflowsAgree } from '../../support/invariants.ts';
import { startWorkers } from '../../support/worker.ts';

const platform = await testPlatform();
const { api, base, gateway, temporal, workers } = platform;
const basic = await monthlyPlan(api);
const pro = await monthlyPlan(api, { fee: '60' });

/** Within the window of February's drafts. */
const present = '2026-02-01T00:30:00Z';
const states = ['active', 'paused', 'planScheduled', 'endScheduled', 'draft', 'trial'] as const;
type State = (typeof states)[number];
type Lives = { clockId: string } & Record<State, string>;

const post = (id: string, command: string, body: object) => created(api, `/subscriptions/${id}/${command}`, body);

/** A subscription in every state that waits for something, on one clock; those that bill have a draft invoice open. */
async function inEveryState(): Promise<Lives> {
  const { clockId } = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z' });
  const one = async (fields: object = {}): Promise<string> => {
    const { customerId } = await clockedCustomer(api, {
      frozenTime: '2026-01-01T00:00:00Z',
      clockId,
      card: sandboxCardNumber('succeeds'),
    });
    return (await subscribe(api, { customer_id: customerId, plan_id: basic.planId, ...fields })).id;
  };
  const lives = {
    clockId,
    active: await one(),
    paused: await one(),
    planScheduled: await one(),
    endScheduled: await one(),
    draft: await one({ subscription_status: 'draft' }),
    trial: await one({ trial_period_days: 45 }),
  };
  await advanceTo(api, clockId, '2026-01-11T00:00:00Z');
  await post(lives.paused, 'pause', {});
  await advanceTo(api, clockId, present);
  await post(lives.planScheduled, 'change/v2/execute', {
    target_plan_id: pro.planId,
    proration_behavior: 'none',
    change_at: 'end_of_period',
  });
  await post(lives.endScheduled, 'cancel', { cancellation_type: 'end_of_period' });
  return lives;
}

/** What is asked and what time brings afterwards. */
async function liveOn({ clockId, paused, draft }: Lives): Promise<void> {
  await advanceTo(api, clockId, '2026-02-11T00:00:00Z');
  await post(paused, 'resume', {});
  await post(draft, 'activate', { start_date: '2026-02-11T00:00:00Z' });
  await advanceTo(api, clockId, '2026-04-01T03:00:00Z');
}

/** Everything that was billed, and how it stands. */
async function billed(lives: Lives): Promise<unknown> {
  const told: Record<string, unknown> = {};
  for (const state of states) {
    const { subscription_status, current_period_start, current_period_end } = await subscriptionOf(api, lives[state]);
    const invoices = (await invoicesOf(api, lives[state])).map((invoice) =>
      [
        ...[invoice.billing_sequence, invoice.billing_reason, invoice.invoice_status, invoice.payment_status],
        ...[invoice.period_start, invoice.period_end, invoice.total, invoice.amount_paid],
      ].join(' '),
    );
    told[state] = { subscription_status, current_period_start, current_period_end, invoices };
  }
  return told;
}

const undisturbed = await (async () => {
  const lives = await inEveryState();
  await liveOn(lives);
  return billed(lives);
})();

const reconciled = (restarts = false) => reconcile({ database: base.database, temporal: temporal.client, restarts });

async function loseEveryWorkflow(): Promise<void> {
  for await (const { workflowId } of temporal.client.workflow.list({ query: `ExecutionStatus = 'Running'` })) {
    // One that ended meanwhile is as gone as the others.
    await temporal.client.workflow
      .getHandle(workflowId)
      .terminate('lost')
      .catch(() => {});
  }
}

test('Temporal from nothing: every state goes on as if nothing had happened, and nothing is billed twice', async () => {
  const lives = await inEveryState();
  await loseEveryWorkflow();
  expect((await reconciled()).started).toBeGreaterThan(0);
  await assertWorkflowsAgree(base, temporal);
  expect((await reconciled()).started).toBe(0);
  await liveOn(lives);
  expect(await billed(lives)).toEqual(undisturbed);
});

/** What the gateway has taken: it keeps that, whatever we forget. */
const captures = async () =>
  (await gateway.operator.captures()).map((capture) => `${capture.intentToken} ${capture.amount}`).sort();

/** A table of ours, and the columns of it that are not computed from others. */
interface Table {
  name: string;
  columns: string;
}

/** Runs statements as the owner of the database, past triggers and policies, as a restore does. */
async function asOwner(statements: (tables: Table[]) => string[]): Promise<void> {
  const client = new pg.Client({ connectionString: base.ownerUrl });
  await client.connect();
  try {
    const { rows } = await client.query<Table>(
      `select quote_ident(c.relname) as name, string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
         join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
       where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition and c.relname not like '%migration%'
       group by c.relname order by 1`,
    );
    await client.query('begin');
    await client.query('set local session_replication_role = replica');
    for (const statement of statements(rows)) await client.query(statement);
    await client.query('commit');
  } finally {
    await client.end();
  }
}

test('PostgreSQL from a backup that is older than Temporal: every state goes on from it, and nothing is billed or charged twice', async () => {
  const lives = await inEveryState();
  await asOwner((tables) => [
    'create schema backup',
    ...tables.map(({ name, columns }) => `create table backup.${name} as select ${columns} from public.${name}`),
  ]);
  // What happens now is lost with the restore, but workflows remember it.
  await liveOn(lives);
  const captured = await captures();
  expect(captured.length).toBeGreaterThan(0);
  await workers.stop();
  await asOwner((tables) => [
    `truncate ${tables.map(({ name }) => name).join(', ')}`,
    ...tables.map(
      ({ name, columns }) =>
        `insert into public.${name} (${columns}) overriding system value select ${columns} from backup.${name}`,
    ),
  ]);
  await startWorkers(base, temporal, platform);
  await reconciled(true);
  await assertWorkflowsAgree(base, temporal);
  await liveOn(lives);
  expect(await billed(lives)).toEqual(undisturbed);
  expect(await captures()).toEqual(captured);
});
