import { describe, expect, test } from 'vitest';
import { connectTemporal } from '../../../api/temporal.ts';
import { checkRows } from '../../../db/check/check-rows.ts';
import type { Finding } from '../../../db/check/invariant.ts';
import { systemScope } from '../../../db/scope.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { createSandbox } from '../../../services/platform/tenant.ts';
import { accountWithRoles } from '../../support/account.ts';
import { testApp } from '../../support/app.ts';
import { testDatabase } from '../../support/database.ts';
import { testTemporal } from '../../support/temporal.ts';
import { cloning, type Wire } from './environment-clone.fixture.ts';

const base = await testDatabase();
const temporal = await testTemporal();
const { api } = await testApp(base, temporal);
const { rows, at, environment, begin } = cloning(api, base, temporal);
const sandbox = await at(base.scope.environmentId);
const stranger = await createSandbox(base.database, { tenantName: 'Stranger' });
const staging = await environment();

const refused: [what: string, body: Wire, status: number, message: RegExp, from?: string][] = [
  ['the environment itself', { target_environment_id: sandbox.id }, 400, /^target_environment_id is the environment/],
  ['neither form', {}, 400, /^target_environment_id is required, or name and type/],
  [
    'both forms, by name',
    { target_environment_id: staging.id, name: 'X', type: 'development' },
    400,
    /^name is of a new/,
  ],
  ['both forms, by type', { target_environment_id: staging.id, type: 'development' }, 400, /^type is of a new/],
  ['a name without type', { name: 'X' }, 400, /^type is required with name/],
  ['a type without name', { type: 'development' }, 400, /^name is required with type/],
  ['a blank name', { name: '  ', type: 'development' }, 400, /^name/],
  ['a name of 256 characters', { name: 'x'.repeat(256), type: 'development' }, 400, /^name/],
  ['an unknown type', { name: 'X', type: 'test' }, 400, /^type/],
  ['a target of another JSON type', { target_environment_id: 1 }, 400, /^target_environment_id/],
  [
    'a production environment, of which none is allowed',
    { name: 'Live', type: 'production' },
    400,
    /^type production is full/,
  ],
  [
    'a development environment above the limit',
    { name: 'Third', type: 'development' },
    400,
    /^type development is full/,
  ],
  ['an unknown target', { target_environment_id: 'env_none' }, 404, /^environment env_none was not found/],
  ['a target of another tenant', { target_environment_id: stranger.environmentId }, 404, /was not found/],
  ['an unknown source', { target_environment_id: staging.id }, 404, /^environment env_none was not found/, 'env_none'],
  ['a source of another tenant', { target_environment_id: staging.id }, 404, /was not found/, stranger.environmentId],
];

test.each(refused)('a clone into %s is refused, and nothing is made', async (_what, body, status, message, from) => {
  const before = await rows('select count(*) from environment');
  const answer = await begin({ ...sandbox, id: from ?? sandbox.id }, body);
  expect([answer.status, answer.body.message]).toEqual([status, expect.stringMatching(message)]);
  expect(await rows('select count(*) from environment')).toEqual(before);
  expect(await rows('select id from environment_clone')).toEqual([]);
});

test('a clone into or out of an archived environment is refused as of one that does not exist', async () => {
  const setStatus = (status: string) =>
    rows('update environment set status = $2 where id = $1 returning id', [staging.id, status]);
  await setStatus('archived');
  expect((await begin(sandbox, { target_environment_id: staging.id })).status).toBe(404);
  expect((await begin(staging, { target_environment_id: sandbox.id })).status).toBe(404);
  await setStatus('published');
});

test('a clone needs the permission to write environments, its view the one to read them', async () => {
  const into = { target_environment_id: staging.id };
  const path = `/environments/${sandbox.id}/clone`;
  const asRole = async (role: string, type: 'user' | 'service_account' = 'user') => ({
    'x-api-key': (await accountWithRoles(base.database, base.scope, [role], type)).apiKey,
  });
  const reader = await asRole('all_reader');
  expect((await api('POST', path, into, reader)).status).toBe(403);
  expect((await api('GET', path, undefined, reader)).status).toBe(404);
  expect((await api('GET', path, undefined, await asRole('event_ingestor', 'service_account'))).status).toBe(403);
});

test('an environment that was never cloned has no clone to show', async () => {
  const { status, body } = await api<Wire>('GET', `/environments/${staging.id}/clone`);
  expect([status, body.message]).toEqual([404, expect.stringMatching(/was never cloned into another/)]);
  const into = await api<Wire>('GET', `/environments/${staging.id}/clone?target_environment_id=${sandbox.id}`);
  expect([into.status, into.body.message]).toEqual([404, expect.stringContaining(`never cloned into ${sandbox.id}`)]);
  const key = { 'x-api-key': stranger.apiKey };
  const foreign = await api<Wire>('GET', `/environments/${sandbox.id}/clone`, undefined, key);
  expect(foreign.body.message).toMatch(/was not found/);
});

test('of two clones of one pair at the same time one is taken and one refused, until the first has ended', async () => {
  const into = { target_environment_id: staging.id };
  const answers = await Promise.all([begin(sandbox, into), begin(sandbox, into)]);
  const [taken, refusal] = answers.toSorted((one, other) => one.status - other.status);
  expect([taken!.status, refusal!.status, refusal!.body.code]).toEqual([202, 409, 'already_exists']);
  expect(refusal!.body).toMatchObject({
    message: expect.stringMatching(/is running; wait until GET on this path shows that it has ended$/),
    details: {
      context: { source_environment_id: sandbox.id, target_environment_id: staging.id, run_id: taken!.body.run_id },
    },
  });
  const backwards = await begin(staging, { target_environment_id: sandbox.id });
  expect(backwards.status, 'the pair in the other direction is another pair').toBe(202);
});

test('the same Idempotency-Key is answered with the same run, and makes one environment', async () => {
  await rows(`update environment set status = 'archived' where id = $1 returning id`, [staging.id]);
  const headers = { 'idempotency-key': 'promote' };
  const body = { name: 'Second', type: 'development' };
  const path = `/environments/${sandbox.id}/clone`;
  const first = await api<Wire>('POST', path, body, headers);
  expect(first.status).toBe(202);
  const again = await api<Wire>('POST', path, body, headers);
  expect([again.status, again.body]).toEqual([202, first.body]);
  expect(await rows(`select name from environment where name = 'Second'`)).toHaveLength(1);
});

test('without Temporal a clone is refused as an outage, and the same key finds the environment that was made', async () => {
  await rows(`update environment set status = 'archived' where name = 'Second' returning id`);
  const nowhere = connectTemporal({ address: '127.0.0.1:1', namespace: temporal.namespace });
  const cutOff = await testApp(base, { ...temporal, client: nowhere.client });
  const body = { name: 'Third', type: 'development' };
  const headers = { 'idempotency-key': 'outage' };
  const path = `/environments/${sandbox.id}/clone`;
  expect((await cutOff.api('POST', path, body, headers)).status).toBe(503);
  const [made] = await rows(`select id from environment where name = 'Third'`);
  const again = await api<Wire>('POST', path, body, headers);
  expect([again.status, again.body.workflow_id]).toEqual([202, `environment-clone/${sandbox.id}/${made.id}`]);
});

describe('the check of an installation names', () => {
  /** What is found wrong when a statement has been carried out, which is then taken back. */
  const found = async (text: string, values: unknown[]): Promise<string[]> => {
    let findings: Finding[] = [];
    const takenBack = new Error('taken back');
    const planted = inSqlTransaction(base.database, systemScope, async (tx) => {
      await tx.rows(text, values);
      findings = await checkRows(tx, { graceMs: 0 });
      throw takenBack;
    });
    await expect(planted).rejects.toBe(takenBack);
    return findings.flatMap(({ id, violations }) =>
      violations.map(({ object, problem }) => `${id} ${object}: ${problem}`),
    );
  };
  const run = (source: string, updatedAt: string) => [
    `with made as (
       insert into environment_clone (id, tenant_id, environment_id, created_at, updated_at, source_environment_id)
       values ('env_clone_1', $1, $2, $4, $4, $3) returning *)
     insert into audit_entry (tenant_id, environment_id, object_type, object_id, action, actor, request_id, occurred_at, recorded_at, detail)
     select tenant_id, environment_id, 'environment_clone', id, 'started', '', '', updated_at, updated_at, '{}' from made`,
    [base.scope.tenantId, sandbox.id, source, updatedAt],
  ];
  const now = new Date().toISOString();
  const meter = `insert into meter (id, tenant_id, environment_id, created_at, updated_at, name, event_name, aggregation, reset_usage, source_environment_meter_id)
    values ('meter_1', $1, $2, $3, $3, 'M', 'e', '{"type":"COUNT"}', 'NEVER', 'meter_none')`;

  test.each([
    [
      'a clone from another tenant',
      ...run(stranger.environmentId, now),
      /^I14 env_clone_1: its source .* is not another/,
    ],
    [
      'a clone of an environment into itself',
      ...run(sandbox.id, now),
      /^I14 env_clone_1: its source .* is not another/,
    ],
    ['a clone that stands still', ...run(staging.id, '2026-01-01T00:00:00Z'), /^I18 env_clone_1: at feature behind ""/],
    [
      'a meter copied from nowhere',
      meter,
      [base.scope.tenantId, sandbox.id, now],
      /^I14 meter_1: it is a copy of meter_none/,
    ],
  ] as [string, string, unknown[], RegExp][])('%s', async (_what, text, values, problem) => {
    expect(await found(text, values)).toContainEqual(expect.stringMatching(problem));
  });
});
