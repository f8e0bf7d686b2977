import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import type { FastifyInstance } from 'fastify';
import pg from 'pg';
import { buildApp } from '../../../api/app.ts';
import { Entitlement } from '../../../db/entities/catalogue/entitlement.ts';
import { Feature } from '../../../db/entities/catalogue/feature.ts';
import { Meter } from '../../../db/entities/catalogue/meter.ts';
import { Plan } from '../../../db/entities/catalogue/plan.ts';
import { type Database, openDatabase } from '../../../db/orm.ts';
import { newRecord } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import { inTransaction, type Transaction } from '../../../db/transaction.ts';
import { prepareNamespace } from '../../../dev/temporal-namespace.ts';
import { openPostgresUsageStore } from '../../../metering/postgres/usage-store.ts';
import { createSandbox } from '../../../services/platform/tenant.ts';
import type { ServersOfRun } from '../../support/servers.ts';
import type { Adapters, Given } from '../adapter.ts';
import { endWithRun, newDatabase, serversOfRun } from '../installation.ts';

/** The real API over a database of this run, started by the first vector that needs it. */
interface Running {
  app: FastifyInstance;
  database: Database;
  owner: pg.Client;
}

/** It, and an environment of which no other vector knows. */
interface Installation extends Running {
  apiKey: string;
  scope: Scope;
}

let running: Promise<Running> | undefined;

async function start(): Promise<Running> {
  const { ownerUrl, applicationUrl } = await newDatabase();
  const owner = new pg.Client({ connectionString: ownerUrl });
  await owner.connect();
  const database = await openDatabase({ url: applicationUrl });
  const { address, namespace } = await temporalOfRun(await serversOfRun());
  const connection = Connection.lazy({ address });
  const metering = openPostgresUsageStore(database);
  const app = await buildApp({
    config: { rateLimitPerSecond: 0, maxEventLoopDelayMs: 0, trustProxy: false },
    database,
    temporal: new Client({ connection, namespace }),
    metering,
    gateways: new Map(),
    logger: false,
  });
  endWithRun(async () => {
    await app.close();
    await metering.close();
    await connection.close();
    await database.close();
    await owner.end();
  });
  return { app, database, owner };
}

/** A Temporal where workflows start and, because no worker runs, stay as they began. */
async function temporalOfRun({ controlUrl }: ServersOfRun): Promise<{ address: string; namespace: string }> {
  const address = await (await fetch(`${controlUrl}/temporal`)).text();
  const namespace = `vectors-${randomUUID()}`;
  await prepareNamespace(address, namespace);
  return { address, namespace };
}

/** The API with an environment of its own and in it what `fill` writes; the ids that vectors name are free again. */
export async function apiWith(fill: (tx: Transaction) => Promise<void>): Promise<Installation> {
  running ??= start();
  const api = await running;
  await api.owner.query('truncate plan, price, meter, feature, entitlement');
  const { apiKey, tenantId, environmentId, userId } = await createSandbox(api.database, { tenantName: 'Vectors' });
  const scope = { tenantId, environmentId, actor: userId, requestId: '' };
  await inTransaction(api.database, scope, async (tx) => {
    await fill(tx);
    await tx.em.flush();
  });
  return { ...api, apiKey, scope };
}

/** A body that is a text is sent as it is, JSON or not. */
async function call(
  { app, apiKey }: Installation,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body: unknown,
) {
  const type = body === null || body === undefined ? {} : { 'content-type': 'application/json' };
  const payload = body === null || body === undefined ? {} : { payload: body as object | string };
  const headers = { 'x-api-key': apiKey, ...type };
  const response = await app.inject({ method, url: `/v1${path}`, headers, ...payload });
  return { status: response.statusCode, body: response.body === '' ? {} : response.json() };
}

async function filterEval({ records, filters }: Given): Promise<unknown> {
  const api = await apiWith(async (tx) => {
    for (const record of records) writePlan(tx, record);
  });
  const answer = await call(api, 'POST', '/plans/search', { filters, limit: 1000 });
  if (!answer.body.items) return { answer };
  const found = new Set(answer.body.items.map((plan: { id: string }) => plan.id));
  return { ids: records.map(({ id }: Given) => id).filter((id: string) => found.has(id)), answer };
}

async function filterError({ filters }: Given): Promise<unknown> {
  const api = await apiWith(async () => {});
  const { status, body } = await call(api, 'POST', '/plans/search', { filters });
  return { status, code: body.code };
}

/**
 * Operations that are not built are skipped by their name. The plan has an id of its own in each vector: the sync of one
 * runs until it is done, and here nobody does it.
 */
async function httpValidation({ method, path, body, state }: Given): Promise<unknown> {
  const planId = `plan_${randomUUID()}`;
  const own = (text: string) => text.replaceAll('plan_x', planId);
  const api = await apiWith((tx) => writeState(tx, state ?? '', planId));
  if (state?.includes('a sync of plan_x is running')) await call(api, 'POST', own(syncOfPlan), null);
  const sent = typeof body === 'string' ? body : body && own(JSON.stringify(body));
  const answer = await call(api, method, own(path), sent);
  const absent = answer.status === 404 && answer.body.message.startsWith('There is no ');
  if (absent || answer.status === 501) {
    return { error: { code: 'not_implemented' }, fields: { [`${method} ${path}`]: 'not built' } };
  }
  return { status: answer.status, code: answer.body.code };
}

const syncOfPlan = '/plans/plan_x/sync/subscriptions';

/** The sentences of `state` and what each stands for; a sync that runs is begun through the API. */
const sentences: Record<string, (tx: Transaction, planId: string) => Promise<void>> = {
  'a published plan with lookup_key taken exists': async (tx) =>
    writePlan(tx, { id: 'plan_taken', name: 'Taken', lookup_key: 'taken' }),
  'plan plan_x exists': async (tx, planId) => writePlan(tx, { id: planId, name: 'X' }),
  'published meter meter_sum (SUM of n), meter_max (MAX, bucket HOUR) and feature feat_m (metered on meter_sum) exist':
    writeMeters,
  'such an entitlement already exists': writeEntitlement,
  'a published entitlement uses feat_m': writeEntitlement,
  'a sync of plan_x is running': async () => undefined,
};

/** What `state` says exists, in the words of the specification's vectors. */
async function writeState(tx: Transaction, state: string, planId: string): Promise<void> {
  for (const sentence of state === '' ? [] : state.split('; ')) {
    const write = sentences[sentence];
    if (!write) throw new Error(`nobody knows what this state is: ${sentence}`);
    await write(tx, planId);
  }
}

async function writeMeters(tx: Transaction): Promise<void> {
  writeMeter(tx, 'meter_sum', { type: 'SUM', bucket_size: null });
  writeMeter(tx, 'meter_max', { type: 'MAX', bucket_size: 'HOUR' });
  tx.em.create(Feature, {
    ...newRecord(tx, 'feat', 'feat_m'),
    name: 'M',
    type: 'metered',
    lookupKey: 'feat_m',
    meterId: 'meter_sum',
    metadata: {},
  });
}

async function writeEntitlement(tx: Transaction, planId: string): Promise<void> {
  tx.em.create(Entitlement, {
    ...newRecord(tx, 'ent', 'ent_m'),
    entityType: 'PLAN',
    entityId: planId,
    featureId: 'feat_m',
    featureType: 'metered',
    isEnabled: true,
  });
}

function writePlan(tx: Transaction, given: Given): void {
  tx.em.create(Plan, {
    ...newRecord(tx, 'plan', given.id),
    name: given.name,
    lookupKey: given.lookup_key ?? '',
    description: given.description ?? '',
    displayOrder: given.display_order ?? null,
    metadata: given.metadata ?? {},
    ...(given.status ? { status: given.status } : {}),
    ...(given.created_at ? { createdAt: given.created_at } : {}),
    ...(given.updated_at ? { updatedAt: given.updated_at } : {}),
  });
}

function writeMeter(
  tx: Transaction,
  id: string,
  { type, bucket_size }: { type: string; bucket_size: string | null },
): void {
  tx.em.create(Meter, {
    ...newRecord(tx, 'meter', id),
    name: id,
    eventName: 'e',
    aggregation: { type, field: 'n', expression: null, multiplier: null, bucket_size, group_by: null },
    filters: [],
    resetUsage: 'BILLING_PERIOD',
  });
}

export const httpAdapters: Adapters = {
  filter_eval: filterEval,
  filter_error: filterError,
  http_validation: httpValidation,
};
