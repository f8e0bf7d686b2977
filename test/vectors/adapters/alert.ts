import { createAlertSettingBody, newAlertSetting } from '../../../api/alert/alert.schema.ts';
import { type AlertConfig, alertConfig } from '../../../billing/alert/alert-config.ts';
import {
  type AlertState,
  alertStateOf,
  alertStep,
  percentageBase,
  percentageBaseStart,
  percentageOf,
} from '../../../billing/alert/alert-state.ts';
import { decimal, decimalString } from '../../../billing/money/money.ts';
import { refusalIn, statusOfCode } from '../../../billing/refusal.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { insertAlertSetting } from '../../../services/alert/alert-setting.ts';
import { type Adapters, type Given, instant } from '../adapter.ts';
import { apiWith } from './http.ts';

function levels({ condition, thresholds }: Given): Pick<AlertConfig, 'critical' | 'warning' | 'info'> {
  const level = (threshold: string | null) =>
    threshold === null ? null : { threshold, condition: (condition ?? 'below') as 'below' };
  return { critical: level(thresholds.critical), warning: level(thresholds.warning), info: level(thresholds.info) };
}

function alertSequence(given: Given): unknown {
  let last: AlertState | null = null;
  const steps = given.values.map((value: string) => {
    const state = alertStateOf(levels(given), decimal(value));
    const { isLogged, event } = alertStep(given.alert_type, last, state);
    if (isLogged) last = state;
    return { state, logged: isLogged, event };
  });
  return { steps };
}

function percentageAlert(given: Given): unknown {
  const subscriptions = given.subscriptions.map((subscription: Given) => ({
    subscriptionStatus: subscription.subscription_status,
    currentPeriodStart: instant(subscription.current_period_start),
  }));
  const credits = given.credits.map((credit: Given) => ({
    creditAmount: decimal(credit.credit_amount),
    transactionStatus: credit.transaction_status,
    createdAt: instant(credit.created_at),
  }));
  const base = percentageBase(credits, percentageBaseStart(subscriptions));
  const percentage = percentageOf(decimal(given.real_time_credit_balance), base);
  return {
    base: decimalString(base),
    evaluated: percentage !== null,
    percentage: percentage && decimalString(percentage),
    state: percentage && alertStateOf(levels(given), percentage),
  };
}

/** Bodies sent one after the other; entities are taken to exist. */
async function settingValidation({ existing, bodies }: Given): Promise<unknown> {
  const { database, scope } = await apiWith(async (tx) => {
    for (const { entity_type: entityType, entity_id: entityId, parent_entity_id: parent } of existing) {
      const config = alertConfig(entityType, { critical: { threshold: '1' } });
      await insertAlertSetting(tx, { entityType, entityId, parentEntityId: parent ?? null, config });
    }
  });
  const answers: { status: number; code: string | null }[] = [];
  for (const body of bodies) {
    try {
      const input = newAlertSetting(createAlertSettingBody.parse(body));
      await inTransaction(database, scope, (tx) => insertAlertSetting(tx, input));
      answers.push({ status: 201, code: null });
    } catch (error) {
      const refusal = refusalIn(error);
      if (!refusal && (error as Error).name !== 'ZodError') throw error;
      const code = refusal?.code ?? 'validation_error';
      answers.push({ status: statusOfCode[code], code });
    }
  }
  return { http_statuses: answers.map(({ status }) => status), codes: answers.map(({ code }) => code) };
}

export const alertAdapters: Adapters = {
  alert_state: (given) => ({
    states: given.values.map((value: string) => alertStateOf(levels(given), decimal(value))),
  }),
  alert_sequence: alertSequence,
  percentage_alert: percentageAlert,
  alert_setting_validation: settingValidation,
};
