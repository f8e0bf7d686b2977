import { missing } from '../../db/rows/record.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { readEventEvidence } from '../../metering/postgres/event/explain-event.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { idParams } from '../scalars.schema.ts';
import { eventExplanation, viewEventExplanation } from './event-explanation.schema.ts';

/** "Why was this not billed" in one call. Own operation; spec: catalogue-and-metering §6.5, §6.6 */
export async function eventExplainRoutes(app: Api): Promise<void> {
  app.get('/events/:id/explain', {
    schema: {
      operationId: 'explainEvent',
      tags: ['Events'],
      summary: 'Why an event was billed, or the first rule that turned it away',
      params: idParams,
      response: { 200: eventExplanation, ...errorResponses },
    },
    config: { permission: 'event:read' },
    handler: async (request) => {
      const { database, metering } = request.server.dependencies;
      const { id } = request.params;
      const evidence = await inSqlTransaction(database, request.scope, (tx) =>
        readEventEvidence(tx, request.scope, metering, id),
      );
      if (!evidence) throw missing('event', id);
      return viewEventExplanation(evidence, request.scope.environmentId);
    },
  });
}
