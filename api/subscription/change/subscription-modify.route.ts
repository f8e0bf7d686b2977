import type { FastifyRequest } from 'fastify';
import type { KeptChange } from '../../../billing/subscription/subscription-change.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { usageReader } from '../../../metering/usage-reader.ts';
import type { AttendedSubscription } from '../../../services/charging/subscription-snapshot.ts';
import type { OrderedChange } from '../../../services/payment/checkout/checkout-draft.ts';
import { changeAddon } from '../../../services/subscription/addon/subscription-addon-change.ts';
import {
  changeGrouping,
  changeInheritance,
} from '../../../services/subscription/family/subscription-hierarchy-modify.ts';
import { changeQuantities } from '../../../services/subscription/item/quantity-change.ts';
import {
  type ChangeOrder,
  type ChangeOutcome,
  nothingMade,
} from '../../../services/subscription/plan-change/subscription-change.ts';
import {
  changeCoupon,
  changeTax,
  changeTrialEnd,
} from '../../../services/subscription/plan-change/subscription-modify.ts';
import { findSubscription } from '../../../services/subscription/read/subscription-read.ts';
import type { UsageReader } from '../../../services/usage-reader.ts';
import type { CommandDefinition } from '../../../workflows/lifecycle.messages.ts';
import type { SubscriptionChanged } from '../../../workflows/subscription/subscription.messages.ts';
import * as messages from '../../../workflows/subscription/subscription-change.messages.ts';
import type { Api } from '../../api.ts';
import { type Commander, sendCommand } from '../../command.ts';
import { errorResponses } from '../../errors.ts';
import type { LifecycleObject } from '../../lifecycle.ts';
import { viewOpened } from '../../payment/checkout-workflow.ts';
import { outcomeOf, previewChange } from '../../preview.ts';
import { idParams } from '../../scalars.schema.ts';
import { openChangeCheckout } from '../subscription-checkout.ts';
import { subscriptionObject } from '../subscription-object.ts';
import { viewSubscription } from '../subscription-view.schema.ts';
import { viewChangedResources } from './changed-resources.schema.ts';
import {
  addonChange,
  couponChange,
  groupingChange,
  inheritanceChange,
  type ModifyBody,
  modifyAnswer,
  modifyBody,
  orderedChange,
  quantityChanges,
  taxChange,
  trialEndChange,
} from './subscription-modify.schema.ts';

const tags = ['Subscriptions'];

/** Modifications of subscriptions, previewed and executed. spec: subscriptions-and-invoicing §1.8 */
export async function subscriptionModifyRoutes(app: Api): Promise<void> {
  const readUsage = usageReader(app.dependencies.metering);

  app.post('/subscriptions/:id/modify/preview', {
    schema: {
      operationId: 'previewSubscriptionModify',
      tags,
      summary: 'Preview a modification of a subscription; nothing is stored',
      params: idParams,
      body: modifyBody,
      response: { 200: modifyAnswer, ...errorResponses },
    },
    config: { permission: 'subscription:read', idempotency: 'none' },
    handler: async (request) => {
      const { id } = request.params;
      const modification = modificationOf(request, id, readUsage);
      orderedChange(request.body, id, request.newId);
      const object = await request.transaction((tx) => subscriptionObject(tx, id));
      return previewChange(request, object, modification.apply, (tx, made) => viewModified(tx, id, made, 'preview'));
    },
  });

  app.post('/subscriptions/:id/modify/execute', {
    schema: {
      operationId: 'executeSubscriptionModify',
      tags,
      summary: 'Modify a subscription: quantities, trial end, coupons, taxes, add-ons',
      params: idParams,
      body: modifyBody,
      response: { 200: modifyAnswer, ...errorResponses },
    },
    config: { permission: 'subscription:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const { id } = request.params;
      const change = orderedChange(request.body, id, request.newId);
      const ordered = change && (await order(request, id, change));
      if (ordered) return ordered;
      const modification = modificationOf(request, id, readUsage);
      const object = await request.transaction((tx) => subscriptionObject(tx, id));
      const changeId = request.newId('subs_change');
      await modification.execute(request, object, { changeId, previewDigest: request.body.preview_digest ?? null });
      return request.transaction(async (tx) => viewModified(tx, id, await outcomeOf(tx, changeId), 'issued'));
    },
  });
}

/** A change that its payment page pays: the answer shows the invoice which waits. Null when nothing is to be paid at once. */
async function order(request: FastifyRequest, subscriptionId: string, change: OrderedChange) {
  const { checkout, ...configuration } = request.body as ModifyBody;
  const sessionId = await openChangeCheckout(request, checkout!, { subscriptionId, change, configuration });
  if (sessionId === null) return null;
  return request.transaction(async (tx) => {
    const session = await viewOpened(request, tx, sessionId);
    const outcome = { ...nothingMade(), invoiceIds: [session.checkout_invoice_id!] };
    return { ...(await viewModified(tx, subscriptionId, outcome, 'preview')), checkout_session: session };
  });
}

interface Binding {
  changeId: string;
  previewDigest: string | null;
}

/** One modification: how a preview applies it, and the message that has the workflow carry it out. */
interface Modification {
  apply(tx: Transaction, order: ChangeOrder): Promise<AttendedSubscription>;
  execute(sender: Commander, object: LifecycleObject, binding: Binding): Promise<SubscriptionChanged>;
}

function modification<Input extends object>(
  update: CommandDefinition<SubscriptionChanged, KeptChange<Input>>,
  input: Input,
  change: (tx: Transaction, order: ChangeOrder, input: Input) => Promise<AttendedSubscription>,
): Modification {
  return {
    apply: (tx, order) => change(tx, order, input),
    execute: (sender, object, { changeId, previewDigest }) =>
      sendCommand(sender, object, update, { id: changeId, content: { previewDigest, input } }),
  };
}

function modificationOf(
  { body, newId }: { body: ModifyBody; newId(prefix: string): string },
  id: string,
  readUsage: UsageReader,
): Modification {
  switch (body.type) {
    case 'quantity_change':
      return modification(messages.changeQuantities, quantityChanges(body), (tx, order, input) =>
        changeQuantities(tx, tx.scope, order, input),
      );
    case 'trial_end':
      return modification(messages.changeTrialEnd, trialEndChange(body), (tx, order, input) =>
        changeTrialEnd(tx, tx.scope, order, input, readUsage),
      );
    case 'coupon':
      return modification(messages.changeCoupon, couponChange(body, id), (tx, order, input) =>
        changeCoupon(tx, tx.scope, order, input),
      );
    case 'tax':
      return modification(messages.changeTax, taxChange(body), changeTax);
    case 'addon':
      return modification(messages.changeAddon, addonChange(body, id, newId), (tx, order, input) =>
        changeAddon(tx, tx.scope, order, input, readUsage),
      );
    case 'inheritance':
      return modification(messages.changeInheritance, inheritanceChange(body), (tx, order, input) =>
        changeInheritance(tx, tx.scope, order, input, readUsage),
      );
    default:
      return modification(messages.changeGrouping, groupingChange(body, id), (tx, order, input) =>
        changeGrouping(tx, tx.scope, order, input, readUsage),
      );
  }
}

async function viewModified(tx: Transaction, id: string, outcome: ChangeOutcome, status: 'preview' | 'issued') {
  return {
    subscription: viewSubscription(await findSubscription(tx, id)),
    changed_resources: await viewChangedResources(tx, id, outcome, status),
    checkout_session: null,
    preview_digest: outcome.previewDigest ?? null,
  };
}
