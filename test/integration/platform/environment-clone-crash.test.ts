import { expect, test } from 'vitest';
import { reconcile } from '../../../activities/check/reconcile.ts';
import { testApp } from '../../support/app.ts';
import { created } from '../../support/billing.ts';
import { crashingWorkers } from '../../support/crashing-worker.ts';
import { testDatabase } from '../../support/database.ts';
import { testTemporal } from '../../support/temporal.ts';
import { catalogue, cloning } from './environment-clone.fixture.ts';

const base = await testDatabase();
const temporal = await testTemporal();
const { api } = await testApp(base, temporal);
const { rows, at, environment, begin, latest } = cloning(api, base, temporal);
const { startWorker, dieAt } = crashingWorkers(base, temporal);

const sandbox = await at(base.scope.environmentId);
await catalogue(api);
// Without a lookup key, so that only its mark tells that it was copied.
await created(api, '/plans', { name: 'Unkeyed' });
const target = await environment('Target');
const { body: begun } = await begin(sandbox, { target_environment_id: target.id });
/** Everything a clone makes, by kind. */
const made = () =>
  rows(
    `select (select count(*)::int from feature where environment_id = $1) as features,
       (select count(*)::int from meter where environment_id = $1) as meters,
       (select count(*)::int from catalogue_group where environment_id = $1) as groups,
       (select count(*)::int from price_unit where environment_id = $1) as units,
       (select count(*)::int from plan where environment_id = $1) as plans,
       (select count(*)::int from price where environment_id = $1) as prices,
       (select count(*)::int from entitlement where environment_id = $1) as entitlements,
       (select count(*)::int from credit_grant where environment_id = $1) as grants`,
    [target.id],
  );
const nothing = { features: 0, meters: 0, groups: 0, units: 0, plans: 0, prices: 0, entitlements: 0, grants: 0 };
const bothFeatures = { ...nothing, features: 2, meters: 1, groups: 1 };
const wholePlan = { ...bothFeatures, groups: 2, units: 1, plans: 1, prices: 3, entitlements: 2, grants: 1 };

// A successor begins at the item at which its predecessor was killed, so each is counted from there.
const deaths = [
  ['in its first feature, with meter and group', 'beforeCommit', nothing],
  ['between two features', 'beforeEffect:2', { ...bothFeatures, features: 1 }],
  ['in its first plan, with all that belongs to it', 'beforeCommit:2', bothFeatures],
  ['between two plans', 'beforeEffect:2', wholePlan],
  ['when everything is copied but not told', 'beforeAnswer', { ...wholePlan, plans: 2 }],
] as const;

test.each(deaths)('a worker is killed %s, and no item is there in part', async (_when, moment, left) => {
  await dieAt(`cloneItems.${moment}`);
  expect(await made()).toEqual([left]);
});

test('when its workflow is lost as well, reconcile begins it again, which ends it with every item counted once', async () => {
  await temporal.client.workflow.getHandle(begun.workflow_id).terminate('lost');
  const reset = `update environment_clone set clone_status = 'running', finished_at = null where environment_id = $1 returning id`;
  const [run] = await rows(reset, [target.id]);
  await reconcile({ database: base.database, temporal: temporal.client });
  await startWorker();
  const again = temporal.client.workflow.getHandle(begun.workflow_id);
  expect(await again.result()).toEqual({
    target_environment_id: target.id,
    features: { cloned: 2, skipped: 0, failed: 0 },
    plans: { cloned: 2, skipped: 0, failed: 0 },
    errors: [],
  });
  expect(await made()).toEqual([{ ...wholePlan, plans: 2 }]);
  expect(await latest(sandbox, target.id)).toMatchObject({ id: run.id, clone_status: 'completed' });
});

test('a run that was lost is marked as interrupted by the next one, which skips what is there', async () => {
  const reset = `update environment_clone set clone_status = 'running', finished_at = null where environment_id = $1 returning id`;
  const [lost] = await rows(reset, [target.id]);
  const { body } = await begin(sandbox, { target_environment_id: target.id });
  expect(await temporal.client.workflow.getHandle(body.workflow_id, body.run_id).result()).toMatchObject({
    features: { cloned: 0, skipped: 2, failed: 0 },
    plans: { cloned: 0, skipped: 2, failed: 0 },
  });
  const [former] = await rows('select clone_status, finished_at from environment_clone where id = $1', [lost.id]);
  expect(former).toEqual({ clone_status: 'interrupted', finished_at: expect.any(String) });
  expect(await made()).toEqual([{ ...wholePlan, plans: 2 }]);
});
