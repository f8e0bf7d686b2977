import { expect, test } from 'vitest';
import type { AgendaItem } from '../../../billing/agenda.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { readSubscriptions } from '../../../services/charging/subscription-row.ts';
import { refreshSubscriptions } from '../../../services/charging/subscription-snapshot.ts';
import { tellChildren } from '../../../services/subscription/family/subscription-group-leave.ts';
import { advanceTo, monthlyPlan, testPlatform } from '../../support/billing.ts';
import { attemptSubscription, member, ownOf } from '../subscription/hierarchy.fixture.ts';

const { api, base } = await testPlatform();

class TakenBack extends Error {}

test('a child that changed twice before its workflow was told is told once', async () => {
  const { planId } = await monthlyPlan(api);
  const parent = await member(api);
  const child = await member(api, parent.clockId);
  const children = [{ plan_id: planId, external_customer_id: child.externalId }];
  const inheritance = { grouped_invoicing_children_to_create: children };
  const { body } = await attemptSubscription(api, { customer_id: parent.customerId, plan_id: planId, inheritance });
  const childId = (await ownOf(api, child)).id as string;
  const at = '2026-01-16T00:00:00.000Z';
  await advanceTo(api, parent.clockId, at);

  let told: AgendaItem[] = [];
  const taken = inSqlTransaction(base.database, base.scope, async (tx) => {
    const { environmentId } = base.scope;
    const changed = [...(await readSubscriptions(tx, environmentId, [childId])).values()];
    await tellChildren(tx, base.scope, { id: body.id }, changed, at);
    await tellChildren(tx, base.scope, { id: body.id }, changed, at);
    const [attended] = await refreshSubscriptions(tx, environmentId, [body.id]);
    told = attended!.agenda.filter(({ kind }) => kind === 'attendSuccessor');
    throw new TakenBack();
  });
  await expect(taken).rejects.toThrow(TakenBack);
  expect(told).toEqual([{ at, kind: 'attendSuccessor', ref: childId }]);
});
