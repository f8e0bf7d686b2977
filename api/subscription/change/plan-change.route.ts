import { createHash } from 'node:crypto';
import { usageReader } from '../../../metering/usage-reader.ts';
import { changePlan } from '../../../services/subscription/plan-change/plan-change.ts';
import { replaceSubscription } from '../../../services/subscription/plan-change/subscription-replace.ts';
import * as messages from '../../../workflows/subscription/subscription-change.messages.ts';
import type { Api } from '../../api.ts';
import { sendCommand } from '../../command.ts';
import { errorResponses } from '../../errors.ts';
import { outcomeOf, previewChange } from '../../preview.ts';
import { idParams } from '../../scalars.schema.ts';
import { subscriptionObject } from '../subscription-object.ts';
import {
  planChangeAnswer,
  planChangeBody,
  planChangeOrder,
  replacementAnswer,
  replacementBody,
  replacementOrder,
  replacementPreview,
} from './plan-change.schema.ts';
import { viewPlanChange, viewReplacement, viewReplacementPreview } from './plan-change-view.schema.ts';

const tags = ['Subscriptions'];
const previewing = { permission: 'subscription:read', idempotency: 'none' } as const;
const executing = { permission: 'subscription:write', idempotency: 'lifecycle' } as const;

/** Changes of plan, in place (v2) and by another subscription (v1). spec: subscriptions-and-invoicing §1.7 */
export async function planChangeRoutes(app: Api): Promise<void> {
  registerInPlace(app);
  registerReplacement(app);
}

function registerInPlace(app: Api): void {
  app.post('/subscriptions/:id/change/v2/preview', {
    schema: {
      operationId: 'previewSubscriptionPlanChangeV2',
      tags,
      summary: 'Preview a change of plan in place; nothing is stored',
      params: idParams,
      body: planChangeBody,
      response: { 200: planChangeAnswer, ...errorResponses },
    },
    config: previewing,
    handler: async (request) => {
      const { id } = request.params;
      const input = planChangeOrder(request.body);
      const object = await request.transaction((tx) => subscriptionObject(tx, id));
      return previewChange(
        request,
        object,
        (tx, order) => changePlan(tx, tx.scope, order, input),
        (tx, outcome) => viewPlanChange(tx, id, outcome, 'preview'),
      );
    },
  });

  app.post('/subscriptions/:id/change/v2/execute', {
    schema: {
      operationId: 'executeSubscriptionPlanChangeV2',
      tags,
      summary: 'Change the plan of a subscription in place: now, at the end of the period or at a date',
      params: idParams,
      body: planChangeBody,
      response: { 200: planChangeAnswer, ...errorResponses },
    },
    config: executing,
    handler: async (request) => {
      const { id } = request.params;
      const { body } = request;
      const input = planChangeOrder(body);
      const object = await request.transaction((tx) => subscriptionObject(tx, id));
      const changeId = body.idempotency_key ? keyedId(id, body.idempotency_key) : request.newId('subs_change');
      const content = { previewDigest: body.preview_digest ?? null, input };
      await sendCommand(request, object, messages.changePlan, { id: changeId, content });
      return request.transaction(async (tx) => viewPlanChange(tx, id, await outcomeOf(tx, changeId), 'issued'));
    },
  });
}

function registerReplacement(app: Api): void {
  const readUsage = usageReader(app.dependencies.metering);

  app.post('/subscriptions/:id/change/preview', {
    schema: {
      operationId: 'previewSubscriptionChange',
      tags,
      summary: 'Preview the replacement of a subscription by one on another plan; nothing is stored',
      params: idParams,
      body: replacementBody,
      response: { 200: replacementPreview, ...errorResponses },
    },
    config: previewing,
    handler: async (request) => {
      const { id } = request.params;
      const input = replacementOrder(request.body, request.newId('subs'));
      const object = await request.transaction((tx) => subscriptionObject(tx, id));
      return previewChange(
        request,
        object,
        (tx, order) => replaceSubscription(tx, tx.scope, order, input, readUsage),
        (tx, outcome) => viewReplacementPreview(tx, id, outcome),
      );
    },
  });

  app.post('/subscriptions/:id/change/execute', {
    schema: {
      operationId: 'executeSubscriptionChange',
      tags,
      summary: 'Replace a subscription by one on another plan, now or at the end of the period',
      params: idParams,
      body: replacementBody,
      response: { 200: replacementAnswer, ...errorResponses },
    },
    config: executing,
    handler: async (request) => {
      const { id } = request.params;
      const input = replacementOrder(request.body, request.newId('subs'));
      const object = await request.transaction((tx) => subscriptionObject(tx, id));
      const changeId = request.newId('subs_change');
      const content = { previewDigest: request.body.preview_digest ?? null, input };
      await sendCommand(request, object, messages.replaceSubscription, { id: changeId, content });
      return request.transaction(async (tx) => viewReplacement(tx, id, await outcomeOf(tx, changeId)));
    },
  });
}

/** The same key of the same subscription is one change. spec: subscriptions-and-invoicing §1.7 idempotency_key */
function keyedId(subscriptionId: string, key: string): string {
  return `subs_change_${createHash('sha256').update(`${subscriptionId}\n${key}`).digest('hex').slice(0, 26)}`;
}
