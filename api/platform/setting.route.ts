import type { FastifyRequest } from 'fastify';
import { refuse } from '../../billing/refusal.ts';
import type { Transaction } from '../../db/transaction.ts';
import { watchAlertDefaults } from '../../services/alert/alert-watch.ts';
import { refreshLatePayers } from '../../services/charging/late-payers.ts';
import { deleteSetting, storedSetting, writeSetting } from '../../services/platform/setting.ts';
import type { SettingKey } from '../../services/platform/setting-defaults.ts';
import { followLimits } from '../../services/topup/auto-topup-switch.ts';
import type { Api } from '../api.ts';
import { errorResponses, notBuiltResponse } from '../errors.ts';
import { tellRunning } from '../lifecycle.ts';
import {
  checkSetting,
  setting,
  settingDeleted,
  settingKey,
  settingParams,
  updateSettingBody,
  viewSetting,
  writtenSetting,
} from './setting.schema.ts';

const tags = ['Settings'];
const aboutLatePayment: ReadonlySet<SettingKey> = new Set(['subscription_config', 'dunning_config']);
const aboutTopUps: ReadonlySet<SettingKey> = new Set<SettingKey>([
  'auto_topup_limits',
  'min_topup_amount_per_currency',
  'wallet_topup_config',
]);
const aboutAlerts: ReadonlySet<SettingKey> = new Set([
  'wallet_balance_alert_config',
  'subscription_alert_config',
  'entitlement_alert_config',
]);
const maxTelling = 16;

/** Settings of the environment and of the tenant. spec: platform §12 */
export async function settingRoutes(app: Api): Promise<void> {
  app.get('/settings/:key', {
    schema: {
      operationId: 'getSettingByKey',
      tags,
      summary: 'Get a setting, with its defaults',
      params: settingParams,
      response: { 200: setting, ...errorResponses },
    },
    config: { permission: 'setting:read' },
    handler: async (request) => {
      const key = settingKey(request.params.key);
      return request.transaction(async (tx) => viewSetting(tx.scope, key, await storedSetting(tx, key)));
    },
  });

  app.put('/settings/:key', {
    schema: {
      operationId: 'updateSettingByKey',
      tags,
      summary: 'Change members of a setting; null goes back to the default',
      params: settingParams,
      body: updateSettingBody,
      response: { 200: setting, ...errorResponses, ...notBuiltResponse },
    },
    config: { permission: 'setting:write' },
    handler: async (request) => {
      requireSuperAdminUser(request);
      const key = settingKey(request.params.key);
      return changeSetting(request, key, async (tx) =>
        viewSetting(
          tx.scope,
          key,
          await writeSetting(tx, key, writtenSetting(key, request.body.value), (value) => checkSetting(key, value)),
        ),
      );
    },
  });

  app.delete('/settings/:key', {
    schema: {
      operationId: 'deleteSettingByKey',
      tags,
      summary: 'Go back to the defaults of a setting',
      params: settingParams,
      response: { 200: settingDeleted, ...errorResponses },
    },
    config: { permission: 'setting:write' },
    handler: async (request) => {
      requireSuperAdminUser(request);
      const key = settingKey(request.params.key);
      return changeSetting(request, key, async (tx) => {
        await deleteSetting(tx, key);
        return { message: `The defaults of ${key} apply again.` };
      });
    },
  });
}

/** Changes a setting; where it says what unpaid invoices bring about, the subscriptions that have some are told. */
async function changeSetting<Answer>(
  request: FastifyRequest,
  key: SettingKey,
  change: (tx: Transaction) => Promise<Answer>,
): Promise<Answer> {
  let payers: string[] = [];
  const answer = await request.transaction(async (tx) => {
    const changed = await change(tx);
    if (aboutAlerts.has(key)) await watchAlertDefaults(tx);
    if (aboutLatePayment.has(key)) payers = await refreshLatePayers(tx, tx.scope);
    if (aboutTopUps.has(key)) await followLimits(tx, tx.scope);
    return changed;
  });
  const waiting = payers.values();
  const tell = async () => {
    for (const id of waiting) await tellRunning(request, { kind: 'subscription', id });
  };
  await Promise.all(Array.from({ length: maxTelling }, tell));
  return answer;
}

function requireSuperAdminUser({ caller }: FastifyRequest): void {
  if (caller.isSuperAdmin && caller.userType === 'user') return;
  throw refuse('permission_denied', 'Only a user with the role super_admin may change settings.');
}
