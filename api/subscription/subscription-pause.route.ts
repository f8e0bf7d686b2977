import type { FastifyRequest } from 'fastify';
import type { Transaction } from '../../db/transaction.ts';
import { usageReader } from '../../metering/usage-reader.ts';
import type { AttendedSubscription } from '../../services/charging/subscription-snapshot.ts';
import { readPreviewDigest } from '../../services/lifecycle/preview-digest.ts';
import { findSubscription } from '../../services/subscription/read/subscription-read.ts';
import { type BoundTransition, boundTransition } from '../../services/subscription/status/bound-transition.ts';
import { pauseSubscription as pauseRows } from '../../services/subscription/status/subscription-pause.ts';
import { resumeSubscription as resumeRows } from '../../services/subscription/status/subscription-resume.ts';
import type { UsageReader } from '../../services/usage-reader.ts';
import { pauseSubscription, resumeSubscription } from '../../workflows/subscription/subscription.messages.ts';
import type { Api } from '../api.ts';
import { sendCommand } from '../command.ts';
import { errorResponses } from '../errors.ts';
import { rehearse } from '../rehearsal.ts';
import { idParams } from '../scalars.schema.ts';
import { pauseBody, pauseLists, pauseOf, resumeBody, resumeOf, viewPause } from './subscription-pause.schema.ts';
import { pauseResult } from './subscription-view.schema.ts';
import { objectOf, viewWhole } from './subscription-whole.route.ts';

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
      const { dry_run: isPreview, preview_digest: previewDigest = null } = request.body;
      const pauseId = request.newId('pause');
      const input = pauseOf(request.body, previewedAt(previewDigest) ?? object.at);
      if (isPreview) {
        return previewTransition(request, { ...object, previewDigest, request: input }, readUsage, {
          transition: (tx, at) => pauseRows(tx, tx.scope, { ...input, pauseId, subscriptionId: id, at }, readUsage),
          pauseId,
        });
      }
      await sendCommand(request, object, pauseSubscription, { id: pauseId, content: { previewDigest, input } });
      return request.transaction((tx) => viewChange(tx, id, { pauseId, previewDigest: null }));
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
      const { dry_run: isPreview, preview_digest: previewDigest = null } = request.body ?? {};
      const input = resumeOf(request.body);
      if (isPreview) {
        return previewTransition(request, { ...object, previewDigest, request: input }, readUsage, {
          transition: (tx, at) => resumeRows(tx, tx.scope, { ...input, subscriptionId: id, at }, readUsage),
        });
      }
      const command = { id: request.newId('subs_change'), content: { previewDigest, input } };
      await sendCommand(request, object, resumeSubscription, command);
      return request.transaction((tx) => viewChange(tx, id, { previewDigest: null }));
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

/** The moment of the preview that is to be executed. Throws `validation_error` for a text that is no digest. */
const previewedAt = (digest: string | null): string | null => (digest === null ? null : readPreviewDigest(digest).at);

/** A dry run: the change and its digest, and nothing of it stays. spec: subscriptions-and-invoicing §1.5 dry_run */
function previewTransition(
  request: Pick<FastifyRequest, 'transaction'>,
  { id, ...asked }: { id: string } & Omit<BoundTransition, 'subscriptionId'>,
  readUsage: UsageReader,
  {
    transition,
    pauseId,
  }: { transition: (tx: Transaction, at: string) => Promise<AttendedSubscription>; pauseId?: string },
) {
  return rehearse(request, async (tx) => {
    const bound = { ...asked, subscriptionId: id };
    const { previewDigest } = await boundTransition(tx, tx.scope, bound, readUsage, (at) => transition(tx, at));
    return viewChange(tx, id, { ...(pauseId ? { pauseId } : {}), previewDigest });
  });
}

/** The pause that began or ended, and the subscription. */
async function viewChange(
  tx: Transaction,
  id: string,
  { pauseId, previewDigest }: { pauseId?: string; previewDigest: string | null },
) {
  const content = await findSubscription(tx, id);
  const row = content.pauses.find((pause) => pause.id === pauseId) ?? content.pauses[0];
  if (!row) throw new Error(`subscription ${id} was paused and has no pause`);
  const pause = viewPause(row);
  return { ...pause, pause, subscription: await viewWhole(tx, content), preview_digest: previewDigest };
}
