import { expect, test } from 'vitest';
import { advanceTo, created, testPlatform } from '../../support/billing.ts';
import { grantFixture } from '../wallet/grant.fixture.ts';
import { alertFixture } from './alert.fixture.ts';

const platform = await testPlatform();
const { api } = platform;
const { watched, setting, enable, told } = alertFixture(platform);
const { metered, subscribed, use } = grantFixture(api);

test('the spend of a group is told when it reaches a threshold, and in the next period when it is below', async () => {
  await enable('subscription_alert_config');
  const group = await created<{ id: string }>(api, '/groups', { name: 'Use', lookup_key: 'use', entity_type: 'price' });
  const on = await metered(undefined, { group_id: group.id });
  const customer = await subscribed(on);
  await setting(
    { entity_type: 'group', entity_id: group.id, parent_entity_id: customer.id },
    { info: { threshold: '30' } },
  );
  await use(on, customer.externalId, ['04-02T00:00:00', 20]);
  await advanceTo(api, customer.clockId, '2026-04-03T00:00:00Z');
  await watched();
  await advanceTo(api, customer.clockId, '2026-05-02T00:00:00Z');
  await watched();
  const [reached, recovered] = ['threshold_reached', 'threshold_recovered'].map(
    (step) => `subscription.group_spend.${step}`,
  ) as [string, string];
  const alerts = await told(customer.id, reached, recovered);
  expect(alerts).toEqual([
    expect.objectContaining({ event_type: reached, group_id: group.id, alert_status: 'info', current_spend: '40' }),
    expect.objectContaining({ event_type: recovered, group_id: group.id, alert_status: 'ok', current_spend: '0' }),
  ]);
});
