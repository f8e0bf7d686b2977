import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import type { FastifyInstance } from 'fastify';
import pg from 'pg';
import { buildApp } from '../../../api/app.ts';
import { Entitlement } from '../../../db/entities/entitlement.ts';
import { Feature } from '../../../db/entities/feature.ts';
import { Meter } from '../../../db/entities/meter.ts';
import { Plan } from '../../../db/entities/plan.ts';
import { type Database, openDatabase } from '../../../db/orm.ts';
import { newRecord } from '../../../db/record.ts';
import type { Scope } from '../../../db/scope.ts';
import { createSandbox } from '../../../db/stores/tenant.ts';
import { inTransaction, type Transaction } from '../../../db/transaction.ts';
import { prepareNamespace } from '../../../dev/temporal-namespace.ts';
import { openPostgresUsageStore } from '../../../metering/postgres/usage-store.ts';
import type { ServersOfRun } from '../../support/servers.ts';
import type { Adapters, Given } from '../adapter.ts';
import { endWithRun, newDatabase, serversOfRun } from '../installation.ts';

/** The real API over a database of this run, started by the first vector that needs it. */
interface Running {
  app: FastifyInstance;
  database: Database;
  owner: pg.Client;
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
  const { apiKey, tenantId, environmentId, userId } = await createSandbox(database, { tenantName: 'Vectors' });
  const scope = { tenantId, environmentId, actor: userId, requestId: '' };
  endWithRun(async () => {
    await app.close();
    await metering.close();
    await connection.close();
    await database.close();
    await owner.end();
  });
  return { app, database, owner, apiKey, scope };
}

/** A Temporal where workflows start and, because no worker runs, stay as they began. */
async function temporalOfRun({ controlUrl }: ServersOfRun): Promise<{ address: string; namespace: string }> {
  const address = await (await fetch(`${controlUrl}/temporal`)).text();
  const namespace = `vectors-${randomUUID()}`;
  await prepareNamespace(address, namespace);
  return { address, namespace };
}

/** The API with an empty catalogue and then what `fill` writes. */
export async function apiWith(fill: (tx: Transaction) => Promise<void>): Promise<Running> {
  running ??= start();
  const api = await running;
  await api.owner.query('truncate plan, price, meter, feature, entitlement');
  await inTransaction(api.database, api.scope, async (tx) => {
    await fill(tx);
    await tx.em.flush();
  });
  return api;
}

async function call({ app, apiKey }: Running, method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body: unknown) {
  const headers = { 'x-api-key': apiKey };
  const payload = body === null || body === undefined ? {} : { payload: body as object };
  const response = await app.inject({ method, url: `/v1${path}`, headers, ...payload });
  return { status: response.statusCode, body: response.json() };
}

async function filterEval({ records, filters }: Given): Promise<unknown> {
  const api = await apiWith(async (tx) => {
    for (const record of records) writePlan(tx, record);
  });
  const sort = [{ field: 'id', direction: 'asc' }];
  const answer = await call(api, 'POST', '/plans/search', { filters, sort, limit: 1000 });
  return { ids: answer.body.items?.map((plan: { id: string }) => plan.id), answer };
}

async function filterError({ filters }: Given): Promise<unknown> {
  const api = await apiWith(async () => {});
  const { status, body } = await call(api, 'POST', '/plans/search', { filters });
  return { status, code: body.code };
}

/** Operations that are not built are skipped by their name. */
async function httpValidation({ method, path, body, state }: Given): Promise<unknown> {
  const api = await apiWith((tx) => writeState(tx, state ?? ''));
  if (state?.includes('a sync of plan_x is running')) await call(api, 'POST', '/plans/plan_x/sync/subscriptions', null);
  const answer = await call(api, method, path, body);
  const absent = answer.status === 404 && answer.body.message.startsWith('There is no ');
  if (absent || answer.status === 501) {
    return { error: { code: 'not_implemented' }, fields: { [`${method} ${path}`]: 'not built' } };
  }
  return { status: answer.status, code: answer.body.code };
}

/** What `state` says exists, in the words of the specification's vectors. */
async function writeState(tx: Transaction, state: string): Promise<void> {
  if (state.includes('lookup_key taken')) writePlan(tx, { id: 'plan_taken', name: 'Taken', lookup_key: 'taken' });
  if (!state.includes('plan_x exists')) return;
  writePlan(tx, { id: 'plan_x', name: 'X' });
  writeMeter(tx, 'meter_sum', { type: 'SUM', bucket_size: null });
  writeMeter(tx, 'meter_max', { type: 'MAX', bucket_size: 'HOUR' });
  tx.em.create(Feature, {
    ...newRecord(tx, 'feat', 'feat_m'),
    name: 'M',
    type: 'metered',
    lookupKey: 'm',
    meterId: 'meter_sum',
    metadata: {},
  });
  await tx.em.flush();
  if (!state.includes('entitlement already exists') && !state.includes('entitlement uses feat_m')) return;
  tx.em.create(Entitlement, {
    ...newRecord(tx, 'ent', 'ent_m'),
    entityType: 'PLAN',
    entityId: 'plan_x',
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
    metadata: {},
    ...(given.created_at ? { createdAt: given.created_at } : {}),
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
