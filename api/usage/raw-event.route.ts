import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { FastifyRequest } from 'fastify';
import { refuse } from '../../billing/refusal.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { newEventId, type PreparedEvent } from '../../metering/event.ts';
import { keepRawEvents, type NewRawEvent, readRawEventMapping } from '../../metering/postgres/event/raw-event.ts';
import { eventOfRaw } from '../../metering/raw-event.ts';
import type { UnstorableEvent } from '../../metering/rejected-event.ts';
import { dropCommand, keepCommand } from '../../services/lifecycle/kept-command.ts';
import {
  nothingReprocessed,
  type ReprocessOrder,
  reprocessStartOptions,
  reprocessWorkflowId,
  reprocessWorkflowType,
} from '../../workflows/usage/event-reprocess.messages.ts';
import type { Api } from '../api.ts';
import { startedWorkflow } from '../catalogue/price-sync.schema.ts';
import { errorResponses } from '../errors.ts';
import { eventBodyLimitBytes } from '../plugins/json-body.ts';
import { countIngested, idempotencyKey } from './event.route.ts';
import { rawEventsAccepted, rawEventsBody, reprocessBody, reprocessOrder } from './raw-event.schema.ts';

const tags = ['Events'];
const startWithinMs = 10_000;

const reprocessings = [
  {
    path: '/events/raw/reprocess/all',
    operationId: 'reprocessRawEvents',
    summary: 'Read raw events again',
    pendingOnly: false,
  },
  {
    path: '/events/raw/reprocess/pending',
    operationId: 'reprocessUnprocessedRawEvents',
    summary: 'Read raw events again that no event could be read from',
    pendingOnly: true,
  },
];

/** Events in a foreign shape: kept as they came, and read by the mapping of the environment. spec: catalogue-and-metering §6.1 */
export async function rawEventRoutes(app: Api): Promise<void> {
  app.post('/events/raw/bulk', {
    bodyLimit: eventBodyLimitBytes,
    schema: {
      operationId: 'bulkIngestRawEvent',
      tags,
      summary: 'Ingest up to 1000 objects of a foreign shape, all or none',
      body: rawEventsBody,
      response: { 202: rawEventsAccepted, ...errorResponses },
    },
    config: { permission: 'event:write', publishable: true, idempotency: 'none' },
    handler: async (request) => {
      const { database, metering } = request.server.dependencies;
      const { scope } = request;
      const key = idempotencyKey(request);
      const mapping = await inSqlTransaction(database, scope, (tx) => readRawEventMapping(tx, scope));
      const events: PreparedEvent[] = [];
      const kept = request.body.events.map((payload, index): NewRawEvent => {
        const fallbackId = key === null ? newEventId() : `${key}#${index}`;
        const made = eventOfRaw(payload, mapping, fallbackId);
        const raw = { fallbackId, payloadText: JSON.stringify(payload) };
        if ('problem' in made) return { ...raw, key: null, problem: made.problem };
        events.push(made.event);
        return { ...raw, key: made.event.key, problem: null };
      });
      const unstorable = await metering.load(scope, events, (sql, bad) =>
        keepRawEvents(sql, scope, withProblems(kept, bad)),
      );
      countIngested(request, events, unstorable);
      return { message: 'Events accepted for processing', batch_size: String(kept.length) };
    },
  });

  for (const { path, operationId, summary, pendingOnly } of reprocessings) {
    app.post(path, {
      schema: {
        operationId,
        tags,
        summary,
        body: reprocessBody,
        response: { 200: startedWorkflow, ...errorResponses },
      },
      config: { permission: 'event:write', idempotency: 'lifecycle' },
      handler: async (request) => {
        const order = reprocessOrder(request.body, { pendingOnly, at: new Date().toISOString() });
        return {
          message: 'Reprocessing of raw events started',
          workflow_id: reprocessWorkflowId(request.scope.environmentId),
          run_id: await startReprocessing(request, request.newId('reprocess'), order),
        };
      },
    });
  }
}

/** Objects whose event could not be stored wait with the reason, like those from which none could be read. */
function withProblems(kept: readonly NewRawEvent[], unstorable: readonly UnstorableEvent[]): readonly NewRawEvent[] {
  if (unstorable.length === 0) return kept;
  const problems = new Map(unstorable.map(({ event, problem }) => [event.key, problem]));
  return kept.map((raw) => {
    const problem = raw.key === null ? undefined : problems.get(raw.key);
    return problem === undefined ? raw : { ...raw, key: null, problem: `it cannot be stored: ${problem}` };
  });
}

/** The run that was started, or the one that the same request started before. Throws `already_exists` while another runs. */
async function startReprocessing(request: FastifyRequest, commandId: string, content: ReprocessOrder): Promise<string> {
  const { temporal, scope, transaction } = request;
  const { tenantId, environmentId } = scope;
  const workflowId = reprocessWorkflowId(environmentId);
  const start = { tenantId, environmentId, commandId, standing: nothingReprocessed };
  const kept = { objectType: 'environment', objectId: environmentId, command: reprocessWorkflowType, content };
  await transaction((tx) => keepCommand(tx, tx.scope, { id: commandId, ...kept }));
  return temporal.withDeadline(Date.now() + startWithinMs, async () => {
    try {
      const run = await temporal.workflow.start(reprocessWorkflowType, reprocessStartOptions(start));
      return run.firstExecutionRunId;
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
    const running = await temporal.workflow.getHandle(workflowId).describe();
    if (running.memo?.commandId === commandId) return running.runId;
    await transaction((tx) => dropCommand(tx, tx.scope, commandId));
    throw refuse(
      'already_exists',
      `a reprocessing of raw events of this environment is running as ${workflowId}; wait until it has ended`,
      { workflow_id: workflowId, run_id: running.runId },
    );
  });
}
