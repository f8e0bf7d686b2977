import { z } from 'zod';
import { customerNow } from '../../../db/clock.ts';
import type { SubscriptionSchedule } from '../../../db/entities/subscription/subscription-schedule.ts';
import type { Transaction } from '../../../db/transaction.ts';
import {
  findPendingSchedule,
  findSchedule,
  listSchedules,
  type ScheduleFilters,
} from '../../../services/subscription/plan-change/subscription-schedule-read.ts';
import { subscriptionOwner } from '../../../services/subscription/read/subscription-read.ts';
import { cancelSchedule } from '../../../workflows/subscription/subscription.messages.ts';
import type { Api } from '../../api.ts';
import { type Commander, sendCommand } from '../../command.ts';
import { errorResponses } from '../../errors.ts';
import { toListQuery } from '../../list.ts';
import { idParams, optionalBody } from '../../scalars.schema.ts';
import { objectOf } from '../subscription-whole.route.ts';
import {
  cancelledSchedule,
  cancelScheduleBody,
  namedSchedule,
  ownScheduleListQuery,
  schedule,
  scheduleList,
  scheduleListQuery,
  viewSchedule,
} from './subscription-schedule.schema.ts';

const tags = ['Subscriptions'];
const read = { permission: 'subscription:read' } as const;
const write = { permission: 'subscription:write', idempotency: 'lifecycle' } as const;
const scheduleParams = z.object({ schedule_id: z.string().min(1).max(255) });
const subscriptionParams = z.object({ subscription_id: z.string().min(1).max(255) });

/**
 * What is scheduled for subscriptions. The published client asks for some of it under a doubled version prefix, which is
 * documented as well, so that whoever reads its requests finds them.
 * spec: subscriptions-and-invoicing §1.1 Path aliases, §2.9.4
 */
export async function subscriptionScheduleRoutes(app: Api): Promise<void> {
  registerLists(app);
  registerReads(app);
  registerCancellations(app);
}

function registerLists(app: Api): void {
  for (const { path, operationId } of [
    { path: '/subscriptions/schedules', operationId: 'listSubscriptionSchedules' },
    { path: '/subscription-schedules', operationId: 'listAllSubscriptionSchedules' },
    { path: '/v1/subscription-schedules', operationId: 'listAllSubscriptionSchedulesV1' },
  ]) {
    app.get(path, {
      schema: {
        operationId,
        tags,
        summary: 'List what is scheduled for subscriptions',
        querystring: scheduleListQuery,
        response: { 200: scheduleList, ...errorResponses },
      },
      config: read,
      handler: async ({ query, transaction }) =>
        transaction((tx) => viewPage(tx, filtersOf(query, query.subscription_id))),
    });
  }

  app.get('/subscriptions/:id/schedules', {
    schema: {
      operationId: 'listSchedulesForSubscription',
      tags,
      summary: 'List what is scheduled for a subscription',
      params: idParams,
      querystring: ownScheduleListQuery,
      response: { 200: scheduleList, ...errorResponses },
    },
    config: read,
    handler: async ({ params, query, transaction }) => transaction((tx) => viewOwn(tx, params.id, query)),
  });
  app.get('/v1/subscriptions/:subscription_id/schedules', {
    schema: {
      operationId: 'listSchedulesForSubscriptionV1',
      tags,
      summary: 'List what is scheduled for a subscription',
      params: subscriptionParams,
      querystring: ownScheduleListQuery,
      response: { 200: scheduleList, ...errorResponses },
    },
    config: read,
    handler: async ({ params, query, transaction }) => transaction((tx) => viewOwn(tx, params.subscription_id, query)),
  });
}

function registerReads(app: Api): void {
  app.get('/subscriptions/schedules/:schedule_id', {
    schema: {
      operationId: 'getSubscriptionSchedule',
      tags,
      summary: 'Get a schedule',
      params: scheduleParams,
      response: { 200: schedule, ...errorResponses },
    },
    config: read,
    handler: async ({ params, transaction }) => transaction((tx) => viewFound(tx, params.schedule_id)),
  });
  for (const { path, operationId } of [
    { path: '/subscription-schedules/:id', operationId: 'getSubscriptionScheduleAlias' },
    { path: '/v1/subscription-schedules/:id', operationId: 'getSubscriptionScheduleV1' },
  ]) {
    app.get(path, {
      schema: {
        operationId,
        tags,
        summary: 'Get a schedule',
        params: idParams,
        response: { 200: schedule, ...errorResponses },
      },
      config: read,
      handler: async ({ params, transaction }) => transaction((tx) => viewFound(tx, params.id)),
    });
  }
}

function registerCancellations(app: Api): void {
  const cancel = async (
    request: Commander & { newId(prefix: string): string },
    { scheduleId, ...object }: Scheduled,
  ) => {
    await sendCommand(request, object, cancelSchedule, { id: request.newId('subs_change'), content: { scheduleId } });
    return { status: 'cancelled', message: `schedule ${scheduleId} is cancelled` };
  };

  app.post('/subscriptions/schedules/cancel', {
    schema: {
      operationId: 'cancelSubscriptionScheduleByType',
      tags,
      summary: 'Cancel a pending schedule, named by its id or by its subscription and kind',
      body: cancelScheduleBody,
      response: { 200: cancelledSchedule, ...errorResponses },
    },
    config: write,
    handler: async (request) => {
      const named = namedSchedule(request.body);
      const object = await request.transaction(async (tx) =>
        objectOfSchedule(
          tx,
          'scheduleId' in named
            ? await findSchedule(tx, named.scheduleId)
            : await findPendingSchedule(tx, named.subscriptionId, named.scheduleType),
        ),
      );
      return cancel(request, object);
    },
  });

  for (const { path, operationId } of [
    { path: '/subscriptions/schedules/:schedule_id/cancel', operationId: 'cancelSubscriptionSchedule' },
    { path: '/v1/subscriptions/schedules/:schedule_id/cancel', operationId: 'cancelSubscriptionScheduleV1' },
  ]) {
    app.post(path, {
      schema: {
        operationId,
        tags,
        summary: 'Cancel a pending schedule',
        params: scheduleParams,
        body: optionalBody,
        response: { 200: cancelledSchedule, ...errorResponses },
      },
      config: write,
      handler: async (request) => {
        const { schedule_id: id } = request.params;
        const object = await request.transaction(async (tx) => objectOfSchedule(tx, await findSchedule(tx, id)));
        return cancel(request, object);
      },
    });
  }
}

type Scheduled = Awaited<ReturnType<typeof objectOfSchedule>>;

/** The subscription of a schedule as a command's object. */
async function objectOfSchedule(tx: Transaction, row: SubscriptionSchedule) {
  return { ...(await objectOf(tx, row.subscriptionId)), scheduleId: row.id };
}

async function viewFound(tx: Transaction, id: string) {
  const row = await findSchedule(tx, id);
  return viewSchedule(row, await nowOf(tx, row.subscriptionId));
}

async function viewOwn(tx: Transaction, id: string, query: z.output<typeof ownScheduleListQuery>) {
  await subscriptionOwner(tx, id);
  return viewPage(tx, filtersOf(query, id));
}

async function viewPage(tx: Transaction, filters: ScheduleFilters) {
  const { rows, total } = await listSchedules(tx, filters);
  const schedules = [];
  for (const row of rows) schedules.push(viewSchedule(row, await nowOf(tx, row.subscriptionId)));
  return { schedules, count: total };
}

async function nowOf(tx: Transaction, subscriptionId: string): Promise<string> {
  return customerNow(tx, (await subscriptionOwner(tx, subscriptionId)).customerId);
}

function filtersOf(query: z.output<typeof ownScheduleListQuery>, subscriptionId: string | undefined): ScheduleFilters {
  const { limit, offset } = toListQuery(query);
  return { subscriptionId, pendingOnly: query.pending_only ?? false, limit, offset };
}
