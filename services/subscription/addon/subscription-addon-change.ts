import type { AddonChange } from '../../../billing/subscription/subscription-change.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import type { AttendedSubscription } from '../../charging/subscription-snapshot.ts';
import type { UsageReader } from '../../usage-reader.ts';
import {
  type ChangeOrder,
  carryOut,
  type Decided,
  type LineItemAction,
  nothingMade,
} from '../plan-change/subscription-change.ts';
import { attachAddon } from './subscription-addon.ts';
import { detachAddon } from './subscription-addon-detach.ts';

/**
 * Attaches or detaches an add-on as a modification, which can be previewed. Throws what attaching and detaching throw.
 * spec: subscriptions-and-invoicing §1.8 addon, §1.10
 */
export async function changeAddon(
  sql: Sql,
  scope: Scope,
  order: ChangeOrder,
  input: AddonChange,
  readUsage: UsageReader,
): Promise<AttendedSubscription> {
  const { subscriptionId } = order;
  return carryOut(sql, scope, order, asked(input), async (_before, at): Promise<Decided> => {
    const written = { ...nothingMade(), events: [], isWritten: true };
    if (input.action === 'add') {
      const { attachment } = input;
      const { row } = await attachAddon(sql, scope, { subscriptionId, attachment, at }, readUsage);
      const made = await madeByAttaching(sql, scope, attachment.associationId);
      const shown = { kind: 'addon_changed', action: 'add-on attached', effectiveAt: attachment.startDate ?? at };
      return { ...written, ...shown, row, ...made, detail: { addon_association_id: attachment.associationId } };
    }
    const { action: _, ...detachment } = input;
    const { attended, returned, carried, end } = await detachAddon(sql, scope, { ...detachment, subscriptionId, at });
    const lineItems = await itemsOf(sql, scope, input.associationId, 'ended');
    const shown = { kind: 'addon_changed', action: 'add-on detached', effectiveAt: end };
    const detail = { addon_association_id: input.associationId };
    return { ...written, ...shown, row: attended.row, lineItems, returned, carried, detail };
  });
}

/** What was asked for, without the id that each request makes. */
function asked(input: AddonChange): unknown {
  return input.action === 'add' ? { ...input, attachment: { ...input.attachment, associationId: '' } } : input;
}

async function madeByAttaching(sql: Sql, scope: Scope, associationId: string) {
  const [association] = await sql.rows<{ invoice_id: string | null }>(
    'select invoice_id from addon_association where environment_id = $1 and id = $2',
    [scope.environmentId, associationId],
  );
  return {
    lineItems: await itemsOf(sql, scope, associationId, 'created'),
    invoiceIds: association?.invoice_id ? [association.invoice_id] : [],
  };
}

async function itemsOf(sql: Sql, scope: Scope, associationId: string, action: LineItemAction) {
  const rows = await sql.rows<{ id: string }>(
    `select id from subscription_line_item where environment_id = $1 and addon_association_id = $2 and status = 'published' order by id`,
    [scope.environmentId, associationId],
  );
  return rows.map(({ id }) => ({ id, action }));
}
