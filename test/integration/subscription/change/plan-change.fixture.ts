import { sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import type { Api } from '../../../support/app.ts';
import { advanceTo, clockedCustomer, invoicesOf, monthlyPlan, subscribe } from '../../../support/billing.ts';

const card = sandboxCardNumber('succeeds');

export interface Changed {
  subscription: { id: string; plan_id: string; version: number };
  changed_resources: {
    line_items: { id: string; change_action: string }[];
    invoices: {
      action: string;
      invoice: { total: string; line_items: { amount: string }[] } | null;
      wallet_transaction: object | null;
    }[];
  };
  change_type: string;
  entity_changes: object[];
  is_scheduled: boolean;
  schedule_id: string;
  preview_digest: string;
  code: string;
  message: string;
}

export interface Replaced {
  old_subscription: { id: string; status: string };
  new_subscription: { id: string; plan_id: string; status: string; current_period_end: string } | null;
  change_type: string;
  invoice: { total: string; billing_reason: string; line_items: { amount: string }[] } | null;
  proration_applied: object;
  next_invoice_preview: { total: string };
  is_scheduled: boolean;
  schedule_id: string;
  preview_digest: string;
}

/** Two monthly plans, subscriptions to the smaller one, and both ways to change between them. */
export async function planChanges(api: Api) {
  const basic = await monthlyPlan(api);
  const pro = await monthlyPlan(api, { fee: '60', perCall: '0.05' });

  /** A subscription to the basic plan that began on 1 April 2026 and whose customer's present is 16 April. */
  async function subscribed(fields: object = {}) {
    const { clockId, customerId, externalId } = await clockedCustomer(api, {
      frozenTime: '2026-04-01T00:00:00Z',
      card,
    });
    const { id } = await subscribe(api, { customer_id: customerId, plan_id: basic.planId, ...fields });
    await advanceTo(api, clockId, '2026-04-16T00:00:00Z');
    return { id, clockId, customerId, externalId };
  }

  const inPlace = (id: string, kind: 'preview' | 'execute', body: object = {}) =>
    api<Changed>('POST', `/subscriptions/${id}/change/v2/${kind}`, {
      target_plan_id: pro.planId,
      proration_behavior: 'create_prorations',
      ...body,
    });
  const replace = (id: string, kind: 'preview' | 'execute', body: object = {}) =>
    api<Replaced>('POST', `/subscriptions/${id}/change/${kind}`, {
      target_plan_id: pro.planId,
      proration_behavior: 'create_prorations',
      billing_cadence: 'RECURRING',
      billing_period: 'MONTHLY',
      billing_cycle: 'anniversary',
      ...body,
    });
  const totals = async (id: string) =>
    (await invoicesOf(api, id)).map(({ billing_reason, total }) => [billing_reason, total]);
  const planOf = async (id: string) => (await api<{ plan_id: string }>('GET', `/subscriptions/${id}`)).body.plan_id;
  return { basic, pro, subscribed, inPlace, replace, totals, planOf };
}
