import type { ProrationBehavior } from '../../../billing/line/proration.ts';
import { decimal } from '../../../billing/money/money.ts';
import type { PlanChangeOrder } from '../../../billing/subscription/subscription-change.ts';
import { badField } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { readItems } from '../../charging/charged-item.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import { planProration, settleProration } from '../plan-change/proration.ts';
import type { LineItemAction } from '../plan-change/subscription-change.ts';
import { endAttachment } from './subscription-addon-detach.ts';

/** What became of the add-ons of a subscription whose plan changed. */
export interface AddonDrop {
  row: SubscriptionRow;
  lineItems: { id: string; action: LineItemAction }[];
  returned: string;
  carried: string;
  entityChanges: { entity_type: 'addon'; entity_id: string; reference_id: string; behaviour: 'carry' | 'drop' }[];
}

/**
 * Carries or drops each attached add-on as a policy says; a dropped one ends with the change and is credited like a removed
 * item. Throws `validation_error` for an override of what is not attached. spec: subscriptions-and-invoicing §2.9.1
 */
export async function dropAddons(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  policy: PlanChangeOrder['addons'],
  { effectiveAt, at, behavior }: { effectiveAt: string; at: string; behavior: ProrationBehavior },
): Promise<AddonDrop> {
  const attached = await sql.rows<{ id: string; addon_id: string; cadence: string }>(
    `select id, addon_id, cadence from addon_association where environment_id = $1 and entity_id = $2 and addon_status <> 'cancelled'
       and (end_date is null or end_date > $3) order by id`,
    [scope.environmentId, row.id, effectiveAt],
  );
  const unknown = Object.keys(policy.overrides).find((id) => !attached.some((association) => association.id === id));
  if (unknown) throw badField(`entity_policies.addons.overrides.${unknown}`, 'names no attached add-on');
  const drop: AddonDrop = { row, lineItems: [], returned: '0', carried: '0', entityChanges: [] };
  for (const { id, addon_id: addonId, cadence } of attached) {
    const behaviour = policy.overrides[id] ?? policy.default;
    drop.entityChanges.push({ entity_type: 'addon', entity_id: addonId, reference_id: id, behaviour });
    if (behaviour === 'carry') continue;
    const items = (await readItems(sql, scope.environmentId, [row.id])).get(row.id) ?? [];
    const ended = items.filter(({ facts }) => facts.addonAssociationId === id);
    const planned = await planProration(sql, scope, {
      row: drop.row,
      action: 'remove_item',
      behavior: cadence === 'recurring' ? behavior : 'none',
      effectiveAt,
      at,
      ended,
      started: [],
    });
    const ending = { associationId: id, subscriptionId: row.id, at, reason: 'plan changed' };
    await endAttachment(sql, scope, ending, effectiveAt);
    const settled = await settleProration(sql, scope, planned);
    drop.row = settled.row;
    drop.returned = decimal(drop.returned).plus(settled.returned).toFixed();
    drop.carried = decimal(drop.carried).plus(settled.carried).toFixed();
    drop.lineItems.push(...ended.map(({ item }) => ({ id: item.id, action: 'ended' as const })));
  }
  return drop;
}
