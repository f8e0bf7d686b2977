import type { Transaction } from '../../../db/transaction.ts';
import { findLineItems, listLineItems } from '../../../services/subscription/item/line-item-list.ts';
import { subscriptionOfLineItem } from '../../../services/subscription/item/line-item-row.ts';
import {
  addLineItem,
  endLineItem,
  updateLineItem,
} from '../../../workflows/subscription/subscription-change.messages.ts';
import type { Api } from '../../api.ts';
import { sendCommand } from '../../command.ts';
import { errorResponses } from '../../errors.ts';
import { toListQuery, viewList } from '../../list.ts';
import { outcomeOf } from '../../preview.ts';
import { idParams } from '../../scalars.schema.ts';
import { subscriptionObject } from '../subscription-object.ts';
import { lineItem, viewLineItem } from '../subscription-view.schema.ts';
import {
  addLineItemBody,
  endLineItemBody,
  lineItemChange,
  lineItemFilters,
  lineItemList,
  lineItemSearchBody,
  newLineItem,
  updateLineItemBody,
} from './line-item.schema.ts';

const tags = ['Subscriptions'];
const config = { permission: 'subscription:write', idempotency: 'lifecycle' } as const;

/** Line items of subscriptions. spec: subscriptions-and-invoicing §1.9 */
export async function lineItemRoutes(app: Api): Promise<void> {
  app.post('/subscriptions/:id/lineitems', {
    schema: {
      operationId: 'createSubscriptionLineItem',
      tags,
      summary: 'Add a line item to a subscription',
      params: idParams,
      body: addLineItemBody,
      response: { 201: lineItem, ...errorResponses },
    },
    config,
    handler: async (request) => {
      const input = newLineItem(request.body);
      const object = await request.transaction((tx) => subscriptionObject(tx, request.params.id));
      const changeId = request.newId('subs_change');
      await sendCommand(request, object, addLineItem, { id: changeId, content: { previewDigest: null, input } });
      return request.transaction((tx) => changedItem(tx, changeId, 'created'));
    },
  });

  app.post('/subscriptions/lineitems/search', {
    schema: {
      operationId: 'querySubscriptionLineItems',
      tags,
      summary: 'Search line items of subscriptions',
      body: lineItemSearchBody,
      response: { 200: lineItemList, ...errorResponses },
    },
    config: { permission: 'subscription:read' },
    handler: async ({ body, transaction }) =>
      transaction(async (tx) =>
        viewList(await listLineItems(tx, toListQuery(body), lineItemFilters(body)), viewLineItem, 'next'),
      ),
  });

  registerChanges(app);
}

function registerChanges(app: Api): void {
  app.put('/subscriptions/lineitems/:id', {
    schema: {
      operationId: 'updateSubscriptionLineItem',
      tags,
      summary: 'Change a line item; what decides its cost makes a new one',
      params: idParams,
      body: updateLineItemBody,
      response: { 200: lineItem, ...errorResponses },
    },
    config,
    handler: async (request) => {
      const { id } = request.params;
      const input = lineItemChange(id, request.body);
      const object = await request.transaction((tx) => objectOfItem(tx, id));
      const changeId = request.newId('subs_change');
      await sendCommand(request, object, updateLineItem, { id: changeId, content: { previewDigest: null, input } });
      return request.transaction((tx) => changedItem(tx, changeId, 'created', id));
    },
  });

  app.delete('/subscriptions/lineitems/:id', {
    schema: {
      operationId: 'deleteSubscriptionLineItem',
      tags,
      summary: 'End a line item',
      params: idParams,
      body: endLineItemBody,
      response: { 200: lineItem, ...errorResponses },
    },
    config,
    handler: async (request) => {
      const { id } = request.params;
      const object = await request.transaction((tx) => objectOfItem(tx, id));
      const changeId = request.newId('subs_change');
      const input = {
        lineItemId: id,
        effectiveFrom: request.body?.effective_from ?? null,
        prorationBehavior: request.body?.proration_behavior || null,
      };
      await sendCommand(request, object, endLineItem, { id: changeId, content: { previewDigest: null, input } });
      return request.transaction((tx) => changedItem(tx, changeId, 'ended', id));
    },
  });
}

async function objectOfItem(tx: Transaction, id: string) {
  return subscriptionObject(tx, await subscriptionOfLineItem(tx, tx.scope.environmentId, id));
}

/** The line item a change is answered with: the one of that action, else the one it was about. */
async function changedItem(tx: Transaction, changeId: string, action: 'created' | 'ended', otherwise = '') {
  const { lineItems } = await outcomeOf(tx, changeId);
  const { id } = lineItems.find((item) => item.action === action) ?? { id: otherwise };
  const [content] = await findLineItems(tx, [id]);
  return viewLineItem(content!);
}
