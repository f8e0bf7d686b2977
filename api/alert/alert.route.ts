import type { AlertLog } from '../../db/entities/alert/alert-log.ts';
import { Customer } from '../../db/entities/customer/customer.ts';
import type { ListPage } from '../../db/list.ts';
import type { Transaction } from '../../db/transaction.ts';
import { listAlertLogs } from '../../services/alert/alert-log.ts';
import {
  archiveAlertSetting,
  createAlertSetting,
  findAlertSetting,
  listAlertSettings,
  updateAlertSetting,
} from '../../services/alert/alert-setting.ts';
import { featuresById } from '../../services/catalogue/feature.ts';
import { metersById } from '../../services/catalogue/meter.ts';
import { walletsById } from '../../services/wallet/wallet.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { toListQuery, viewList } from '../list.ts';
import { idParams, noContent } from '../scalars.schema.ts';
import {
  type AlertLogCompany,
  alertLogFilters,
  alertLogList,
  alertLogSearchBody,
  alertSetting,
  alertSettingFilters,
  alertSettingList,
  alertSettingSearchBody,
  createAlertSettingBody,
  newAlertSetting,
  updateAlertSettingBody,
  viewAlertLog,
  viewAlertSetting,
  walletIdOf,
} from './alert.schema.ts';

const tags = ['Alerts'];

/** Alert settings, and the log of what they told. spec: wallets-and-payments §1.3 */
export async function alertRoutes(app: Api): Promise<void> {
  settingRoutes(app);
  searchRoutes(app);
}

function settingRoutes(app: Api): void {
  app.post('/alerts/setting', {
    schema: {
      operationId: 'createAlertSettings',
      tags,
      summary: 'Watch a wallet, a feature, spending or a budget',
      body: createAlertSettingBody,
      response: { 201: alertSetting, ...errorResponses },
    },
    config: { permission: 'alert_settings:write' },
    handler: async ({ body, transaction }) => {
      const input = newAlertSetting(body);
      return transaction(async (tx) => viewAlertSetting(await createAlertSetting(tx, input)));
    },
  });

  app.get('/alerts/setting/:id', {
    schema: {
      operationId: 'getAlertSettings',
      tags,
      summary: 'Get an alert setting',
      params: idParams,
      response: { 200: alertSetting, ...errorResponses },
    },
    config: { permission: 'alert_settings:read' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => viewAlertSetting(await findAlertSetting(tx, params.id))),
  });

  app.put('/alerts/setting/:id', {
    schema: {
      operationId: 'updateAlertSettings',
      tags,
      summary: 'Replace what an alert setting watches',
      params: idParams,
      body: updateAlertSettingBody,
      response: { 200: alertSetting, ...errorResponses },
    },
    config: { permission: 'alert_settings:write' },
    handler: async ({ params, body, transaction }) =>
      transaction(async (tx) => viewAlertSetting(await updateAlertSetting(tx, params.id, body.config))),
  });

  app.delete('/alerts/setting/:id', {
    schema: {
      operationId: 'deleteAlertSettings',
      tags,
      summary: 'Archive an alert setting; its alarms end silently',
      params: idParams,
      response: { 204: noContent, ...errorResponses },
    },
    config: { permission: 'alert_settings:write' },
    handler: async ({ params, transaction }) => transaction((tx) => archiveAlertSetting(tx, params.id)),
  });
}

function searchRoutes(app: Api): void {
  app.post('/alerts/setting/search', {
    schema: {
      operationId: 'queryAlertSettings',
      tags,
      summary: 'Search alert settings',
      body: alertSettingSearchBody,
      response: { 200: alertSettingList, ...errorResponses },
    },
    config: { permission: 'alert_settings:read' },
    handler: async ({ body, transaction }) =>
      transaction(async (tx) => {
        const page = await listAlertSettings(tx, toListQuery(body), alertSettingFilters(body));
        return viewList(page, viewAlertSetting, 'next');
      }),
  });

  app.post('/alerts/search', {
    schema: {
      operationId: 'queryAlertLog',
      tags,
      summary: 'Search the changes of state that alerts told',
      body: alertLogSearchBody,
      response: { 200: alertLogList, ...errorResponses },
    },
    config: { permission: 'alert_settings:read' },
    handler: async ({ body, transaction }) =>
      transaction(async (tx) => {
        const page = await listAlertLogs(tx, toListQuery(body), alertLogFilters(body));
        const company = await companyOf(tx, page, body?.expand ?? []);
        return viewList(page, (row) => viewAlertLog(row, company), 'next');
      }),
  });
}

async function companyOf(
  tx: Transaction,
  { rows }: ListPage<AlertLog>,
  expand: readonly string[],
): Promise<AlertLogCompany> {
  const ids = (name: string, of: (row: AlertLog) => string) =>
    expand.includes(name) ? [...new Set(rows.map(of))] : [];
  const customerIds = ids('customer', (row) => row.customerId);
  const { environmentId } = tx.scope;
  const customers =
    customerIds.length === 0 ? [] : await tx.em.find(Customer, { id: { $in: customerIds }, environmentId });
  const features = await featuresById(
    tx,
    ids('feature', (row) => row.entityId),
  );
  const meters = await metersById(
    tx,
    [...features.values()].map(({ meterId }) => meterId ?? null),
  );
  const withMeter = [...features].map(([id, feature]) => {
    const meter = meters.get(feature.meterId ?? '') ?? null;
    return [id, { feature, meter, meterChanged: false }] as const;
  });
  return {
    customers: new Map(customers.map((row) => [row.id, row])),
    wallets: await walletsById(tx, ids('wallet', walletIdOf)),
    features: new Map(withMeter),
  };
}
