import { inSqlTransaction } from '../../db/transaction.ts';
import { wireInstant } from '../../metering/timestamp.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { idParams } from '../scalars.schema.ts';
import { eventVoid, usageVerification, verifyUsageBody, voidEventBody } from './event-correction.schema.ts';

const defaultSample = 20;

/** Corrections of what was metered, and the proof that it is right. Own operations; design: usage.md Afterwards */
export async function eventCorrectionRoutes(app: Api): Promise<void> {
  app.post('/events/:id/void', {
    schema: {
      operationId: 'voidEvent',
      tags: ['Events'],
      summary: 'Take an event out of every count; final invoices show it as a late correction',
      params: idParams,
      body: voidEventBody,
      response: { 200: eventVoid, ...errorResponses },
    },
    config: { permission: 'event:write' },
    handler: async (request) => {
      const { id } = request.params;
      const { reason } = request.body;
      return request.transaction(async (tx) => {
        const { eventVoid: made } = await app.dependencies.metering.voidEvent(tx, { id, reason });
        return { event_id: id, voided_at: wireInstant(made.voidedAt), reason: made.reason, voided_by: made.actor };
      });
    },
  });

  app.post('/events/verify', {
    schema: {
      operationId: 'verifyUsage',
      tags: ['Operators'],
      summary: 'Recompute a random sample of usage from its events and tell what differs',
      body: verifyUsageBody,
      response: { 200: usageVerification, ...errorResponses },
    },
    config: { permission: 'workflow:read', idempotency: 'none' },
    handler: async (request) => {
      const { database, metering } = app.dependencies;
      const size = request.body?.sample ?? defaultSample;
      const { examined, differences } = await inSqlTransaction(database, request.scope, (tx) =>
        metering.verifySample(tx, request.scope, size),
      );
      return {
        examined,
        differences: differences.map((each) => ({
          meter_id: each.meterId,
          external_customer_id: each.externalCustomerId,
          bucket: each.bucket,
          stored: each.stored,
          recomputed: each.recomputed,
        })),
      };
    },
  });
}
