import { pauseSubscription as pauseRows } from '../../db/stores/subscription-pause.ts';
import { findSubscription } from '../../db/stores/subscription-read.ts';
import { resumeSubscription as resumeRows } from '../../db/stores/subscription-resume.ts';
import type { Transaction } from '../../db/transaction.ts';
import { usageReader } from '../../metering/usage-reader.ts';
import { pauseSubscription, resumeSubscription } from '../../workflows/subscription.messages.ts';
import type { Api } from '../app.ts';
import { errorResponses } from '../errors.ts';
import { updateObject } from '../lifecycle.ts';
import { rehearse } from '../rehearsal.ts';
import { idParams } from '../schemas/scalars.ts';
import { newPause, newResume, pauseBody, pauseLists, resumeBody, viewPause } from '../schemas/subscription-pause.ts';
import { pauseResult } from '../schemas/subscription-view.ts';
import { objectOf, viewWhole } from './subscription-whole.ts';

const tags = ['Subscriptions'];

/** Pausing and resuming. A dry run does the whole change in a transaction that is rolled back. spec: subscriptions-and-invoicing §1.5, §2.11 */
export async function subscriptionPauseRoutes(app: Api): Promise<void> {
  const readUsage = usageReader(app.dependencies.metering);

  app.post('/subscriptions/:id/pause', {
    schema: {
      operationId: 'pauseSubscription',
      tags,
      summary: 'Pause a subscription now',
      params: idParams,
      body: pauseBody,
      response: { 200: pauseResult, ...errorResponses },
    },
    config: { permission: 'subscription:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const { id } = request.params;
      const object = await request.transaction((tx) => objectOf(tx, id));
      const pause = newPause(request.body, request.newId('pause'), object.at);
      if (request.body.dry_run) {
        return rehearse(request, async (tx) => {
          await pauseRows(tx, tx.scope, { ...pause, subscriptionId: id, at: object.at }, readUsage);
          return viewChange(tx, id, pause.pauseId);
        });
      }
      await updateObject(request, object, pauseSubscription, { ...pause, changeId: pause.pauseId });
      return request.transaction((tx) => viewChange(tx, id, pause.pauseId));
    },
  });

  app.post('/subscriptions/:id/resume', {
    schema: {
      operationId: 'resumeSubscription',
      tags,
      summary: 'Resume a paused subscription now',
      params: idParams,
      body: resumeBody,
      response: { 200: pauseResult, ...errorResponses },
    },
    config: { permission: 'subscription:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const { id } = request.params;
      const object = await request.transaction((tx) => objectOf(tx, id));
      const resume = newResume(request.body);
      if (request.body?.dry_run) {
        return rehearse(request, async (tx) => {
          await resumeRows(tx, tx.scope, { ...resume, subscriptionId: id, at: object.at }, readUsage);
          return viewChange(tx, id);
        });
      }
      await updateObject(request, object, resumeSubscription, { ...resume, changeId: request.newId('subs_change') });
      return request.transaction((tx) => viewChange(tx, id));
    },
  });

  app.get('/subscriptions/:id/pauses', {
    schema: {
      operationId: 'listSubscriptionPauses',
      tags,
      summary: 'List the pauses of a subscription, newest first',
      params: idParams,
      response: { 200: pauseLists, ...errorResponses },
    },
    config: { permission: 'subscription:read' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => {
        const { pauses } = await findSubscription(tx, params.id);
        return [{ items: pauses.map(viewPause), total: pauses.length }];
      }),
  });
}

/** The pause that began or ended, and the subscription. */
async function viewChange(tx: Transaction, id: string, pauseId?: string) {
  const content = await findSubscription(tx, id);
  const row = content.pauses.find((pause) => pause.id === pauseId) ?? content.pauses[0];
  if (!row) throw new Error(`subscription ${id} was paused and has no pause`);
  const pause = viewPause(row);
  return { ...pause, pause, subscription: await viewWhole(tx, content) };
}
