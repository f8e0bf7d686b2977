import { inSqlTransaction } from '../../db/transaction.ts';
import { listRejectedEvents } from '../../metering/postgres/event/rejected-event.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { rejectedEventPage, rejectedEventQuery, rejectedQueryOf, viewRejectedEvents } from './event-rejected.schema.ts';

/** Events that no meter counted, while the setting `event_rejection_config` keeps them. spec: catalogue-and-metering §6.6 */
export async function eventRejectedRoutes(app: Api): Promise<void> {
  app.get('/events/rejected', {
    schema: {
      operationId: 'listRejectedEvents',
      tags: ['Events'],
      summary: 'List events that no meter counted, newest first',
      querystring: rejectedEventQuery,
      response: { 200: rejectedEventPage, ...errorResponses },
    },
    config: { permission: 'event:read' },
    handler: async (request) => {
      const query = rejectedQueryOf(request.query);
      const { database } = request.server.dependencies;
      return viewRejectedEvents(
        await inSqlTransaction(database, request.scope, (tx) => listRejectedEvents(tx, request.scope, query)),
      );
    },
  });
}
