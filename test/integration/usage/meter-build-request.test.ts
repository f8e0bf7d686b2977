import { afterAll, expect, test } from 'vitest';
import { openDatabase } from '../../../db/orm.ts';
import { poll } from '../../../dev/processes.ts';
import { retry } from '../../../workflows/lifecycle.messages.ts';
import { meterBuildWorkflowId, progress } from '../../../workflows/usage/meter-build.messages.ts';
import type { meterBuild } from '../../../workflows/usage/meter-build.ts';
import { testApp } from '../../support/app.ts';
import { created } from '../../support/billing.ts';
import { asSuperuser, testDatabase } from '../../support/database.ts';
import { testTemporal } from '../../support/temporal.ts';
import { startWorkers } from '../../support/worker.ts';

// An installation in which every build is large.
const base = await testDatabase();
const asOwner = (text: string) => asSuperuser(base.ownerUrl, text);
const name = new URL(base.ownerUrl).pathname.slice(1);
await asOwner(`alter database ${name} set perennial.inline_build_bytes = '-1'`);
const database = await openDatabase({ url: base.applicationUrl });
afterAll(() => database.close());
const temporal = await testTemporal();
const large = { ...base, database };
const app = await testApp(large, temporal);
const { api } = app;
await startWorkers(large, temporal, app);

await created(api, '/customers', { external_id: 'acme', name: 'acme' });
const running = (meterId: string) =>
  temporal.client.workflow.getHandle<typeof meterBuild>(meterBuildWorkflowId(meterId));
const send = (eventName: string, count: number) =>
  created(api, '/events/bulk', {
    events: Array.from({ length: count }, () => ({
      event_name: eventName,
      external_customer_id: 'acme',
      timestamp: '2026-01-10T10:20:00Z',
    })),
  });
const meterBody = (eventName: string) => ({
  name: 'Calls',
  event_name: eventName,
  aggregation: { type: 'COUNT' },
  reset_usage: 'BILLING_PERIOD',
});
const usage = async (meterId: string) => {
  const interval = { start_time: '2026-01-01T00:00:00Z', end_time: '2026-02-01T00:00:00Z' };
  const body = { meter_id: meterId, external_customer_id: 'acme', ...interval };
  return (await created<{ value: unknown }>(api, '/events/usage/meter', body)).value;
};

test('a meter, a feature with its meter and a copy of it count many earlier events, and are built by their workflows', async () => {
  await send('asked', 3);
  const meter = await created(api, '/meters', meterBody('asked'));
  const feature = await created<{ id: string; meter_id: string }>(api, '/features', {
    name: 'Asked',
    type: 'metered',
    meter: meterBody('asked'),
  });
  const copy = await created<{ meter_id: string }>(api, `/features/${feature.id}/clone`, {
    name: 'Copy',
    lookup_key: 'copy',
  });
  for (const id of [meter.id, feature.meter_id, copy.meter_id]) {
    expect(Number(await usage(id))).toBe(3);
    expect(await running(id).result()).toMatchObject({ isDone: true });
    expect(Number(await usage(id))).toBe(3);
  }
});

test('a build that cannot go on says why, answers from events meanwhile, and goes on with retry', async () => {
  await send('parked', 2);
  await asOwner('alter table usage.distinct_value rename to distinct_value_away');
  let id = '';
  try {
    ({ id } = await created(api, '/meters', meterBody('parked')));
    const reason = await poll(async () => (await running(id).query(progress)).blockedOn ?? undefined, 45_000);
    expect(reason).toContain('distinct_value');
  } finally {
    await asOwner('alter table usage.distinct_value_away rename to distinct_value');
  }
  expect(Number(await usage(id))).toBe(2);
  const parked = await running(id).describe();
  expect(parked.typedSearchAttributes.getAll().map(({ value }) => value)).toContain('buildMeter');
  await running(id).executeUpdate(retry);
  expect(await running(id).result()).toMatchObject({ isDone: true });
  expect(Number(await usage(id))).toBe(2);
});
