import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { refuse } from '../../billing/refusal.ts';
import { refuseInherited } from '../../billing/subscription/hierarchy.ts';
import { readSubscriptions } from '../../services/charging/subscription-row.ts';
import { computableDrafts } from '../../services/invoice/draft/invoice-compute.ts';
import { invoiceOwner } from '../../services/invoice/read/invoice-read.ts';
import { type OverdueFilter, type OverdueObject, overdueObjects } from '../../services/lifecycle/overdue-object.ts';
import { parkedAt } from '../../services/lifecycle/parked-object.ts';
import { finalizeInvoice, invoiceWorkflowId, recalculateDraft } from '../../workflows/invoice/invoice.messages.ts';
import type { Api } from '../api.ts';
import { sendCommand } from '../command.ts';
import { errorResponses } from '../errors.ts';
import { updateObject, type WokenRun, wakeObject } from '../lifecycle.ts';
import { optionalBody } from '../scalars.schema.ts';
import { subscriptionObject } from '../subscription/subscription-object.ts';
import { workflowStarted, workflowsTriggered, workflowTriggered } from './workflow-trigger.schema.ts';

const write = { permission: 'subscription:write', idempotency: 'lifecycle' } as const;
const subscriptionParams = z.object({ subscription_id: z.string().min(1).max(255) });
const invoiceParams = z.object({ invoice_id: z.string().min(1).max(255) });

/** Objects that one request wakes; who has more sends it again. */
const mostWoken = 1000;
const wokenAtOnce = 20;

/**
 * What operators may set going by hand. Nothing of it is needed for billing: workflows act by themselves, and these have them look
 * again, started anew where none runs. spec: subscriptions-and-invoicing §1.1 operator triggers; platform §1.1 aliases
 */
export async function workflowTriggerRoutes(app: Api): Promise<void> {
  subscriptionTriggers(app);
  environmentTriggers(app);
  invoiceTrigger(app);
}

function subscriptionTriggers(app: Api): void {
  app.post('/subscriptions/temporal/:subscription_id/trigger-workflow', {
    schema: {
      operationId: 'triggerSubscriptionWorkflow',
      tags: ['Subscriptions'],
      summary: 'Have the workflow of a subscription look again and do what is due; it is started when none runs',
      params: subscriptionParams,
      body: optionalBody,
      response: { 200: workflowTriggered, ...errorResponses },
    },
    config: write,
    handler: async (request) => {
      const { woken, due } = await wakeSubscription(request, request.params.subscription_id);
      const steps = due.length === 0 ? 'nothing is due' : `the workflow does what is due: ${due.join(', ')}`;
      return { workflow_id: woken.workflowId, run_id: woken.runId, message: steps };
    },
  });

  app.post('/subscriptions/temporal/:subscription_id/draft-and-compute', {
    schema: {
      operationId: 'triggerSubscriptionDraftAndComputeWorkflow',
      tags: ['Subscriptions'],
      summary: 'Have the drafts of a subscription computed again, and those made that are due',
      params: subscriptionParams,
      body: optionalBody,
      response: { 202: workflowTriggered, ...errorResponses },
    },
    config: write,
    handler: async (request, reply) => {
      const id = request.params.subscription_id;
      const drafts = await request.transaction((tx) => computableDrafts(tx, tx.scope, id));
      for (const draftId of drafts) {
        const owner = await request.transaction((tx) => invoiceOwner(tx, draftId));
        const command = { id: request.newId('inv_cmd'), content: { finalize: false } };
        await sendCommand(request, { kind: 'invoice', ...owner }, recalculateDraft, command);
      }
      // Last, because what is due may finalize them.
      const { woken, due } = await wakeSubscription(request, id);
      const computed = `${drafts.length} of its drafts were computed again`;
      const message = due.length === 0 ? computed : `${computed}; the workflow does what is due: ${due.join(', ')}`;
      return reply.code(202).send({ workflow_id: woken.workflowId, run_id: woken.runId, message });
    },
  });
}

/** Throws `not_found`, `invalid_operation` for one that is parked, and `validation_error` for one that follows another. */
async function wakeSubscription(request: FastifyRequest, id: string) {
  const { object, overdue } = await request.transaction(async (tx) => {
    const object = await subscriptionObject(tx, id);
    for (const row of (await readSubscriptions(tx, tx.scope.environmentId, [id])).values())
      refuseInherited(row, 'triggered');
    const step = await parkedAt(tx, tx.scope, { objectType: 'subscription', objectId: id });
    if (step !== null)
      throw refuse(
        'invalid_operation',
        `subscription ${id} is parked at ${step}: mend the cause that GET /v1/billing-run tells, then POST /v1/billing-run/subscription/${id}/retry`,
        { step },
      );
    const filter: OverdueFilter = { objectType: 'subscription', objectId: id, limit: 1 };
    return { object, overdue: await overdueObjects(tx, tx.scope, filter) };
  });
  return { woken: await wakeObject(request, object), due: overdue.objects[0]?.steps ?? [] };
}

function environmentTriggers(app: Api): void {
  for (const { path, operationId, summary, tags, filter } of [
    { path: '/subscriptions/temporal/schedule-update-billing-period', operationId: 'scheduleUpdateBillingPeriod' },
    { path: '/tasks/scheduled/schedule-update-billing-period', operationId: 'scheduleUpdateBillingPeriodAlias' },
    { path: '/subscriptions/temporal/schedule-draft-finalization', operationId: 'scheduleDraftFinalization' },
    { path: '/tasks/scheduled/schedule-draft-finalization', operationId: 'scheduleDraftFinalizationAlias' },
  ].map(environmentTrigger)) {
    app.post(path, {
      schema: {
        operationId,
        tags,
        summary,
        body: optionalBody,
        response: { 200: workflowsTriggered, ...errorResponses },
      },
      config: write,
      handler: async (request) => {
        const { objects, total } = await request.transaction((tx) =>
          overdueObjects(tx, tx.scope, { ...filter, limit: mostWoken }),
        );
        const woken = await wakeAll(request, objects);
        const only = woken.length === 1 ? woken[0] : undefined;
        const rest = total > objects.length ? `; send it again for the other ${total - objects.length}` : '';
        const message = `${woken.length} objects had something due and were woken${rest}`;
        return {
          workflow_id: only?.workflowId ?? null,
          run_id: only?.runId ?? null,
          message,
          woken: woken.length,
        };
      },
    });
  }
}

function environmentTrigger({ path, operationId }: { path: string; operationId: string }) {
  const ofDrafts = path.endsWith('schedule-draft-finalization');
  const filter = ofDrafts ? { step: 'finalizeInvoice' } : { objectType: 'subscription' as const };
  const summary = ofDrafts
    ? 'Wake the workflows of all drafts that should be final by now'
    : 'Wake the workflows of all subscriptions that have something due';
  return { path, operationId, summary, filter, tags: [path.startsWith('/tasks') ? 'Tasks' : 'Subscriptions'] };
}

async function wakeAll(request: FastifyRequest, objects: readonly OverdueObject[]) {
  const woken: WokenRun[] = [];
  for (let first = 0; first < objects.length; first += wokenAtOnce) {
    const some = objects.slice(first, first + wokenAtOnce).map(({ objectType, objectId, ...rest }) => ({
      kind: objectType,
      id: objectId,
      ...rest,
    }));
    woken.push(...(await Promise.all(some.map((object) => wakeObject(request, object)))));
  }
  return woken;
}

function invoiceTrigger(app: Api): void {
  app.post('/invoices/temporal/:invoice_id/finalize', {
    schema: {
      operationId: 'triggerFinalizeDraftInvoiceWorkflow',
      tags: ['Invoices'],
      summary: 'Finalize a draft now by its workflow, which the answer names',
      params: invoiceParams,
      body: optionalBody,
      response: { 202: workflowStarted, ...errorResponses },
    },
    config: { permission: 'invoice:write', idempotency: 'lifecycle' },
    handler: async (request, reply) => {
      const { invoice_id: id } = request.params;
      const owner = await request.transaction((tx) => invoiceOwner(tx, id));
      const changed = await updateObject(request, { kind: 'invoice', ...owner }, finalizeInvoice, {});
      const skipped = changed.invoiceStatus === 'SKIPPED';
      const message = skipped ? 'the invoice bills nothing and stays skipped' : 'invoice finalized successfully';
      return reply.code(202).send({ message, workflow_id: invoiceWorkflowId(id), run_id: changed.runId });
    },
  });
}
