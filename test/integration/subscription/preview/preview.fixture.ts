import { sandboxCardNumber } from '../../../../integrations/sandbox-gateway/card.ts';
import { readPreviewDigest } from '../../../../services/lifecycle/preview-digest.ts';
import type { Api } from '../../../support/app.ts';
import {
  advanceTo,
  clockedCustomer,
  created,
  monthlyPlan,
  subscribe,
  type TestPlan,
} from '../../../support/billing.ts';

/** What previews answer with. */
export interface Digested {
  preview_digest: string;
  code?: string;
  details?: { difference: Record<string, unknown> };
}

export interface PreviewedSubscription {
  id: string;
  clockId: string;
  customerId: string;
  externalId: string;
  use(at: string): Promise<unknown>;
}

const card = sandboxCardNumber('succeeds');

/** A monthly subscription from 31 January 2026 on, at an instant of its life, with a call an hour before. */
export async function previewedSubscription(
  api: Api,
  plan: TestPlan,
  at: string,
  fields: object = {},
): Promise<PreviewedSubscription> {
  const customer = await clockedCustomer(api, { frozenTime: '2026-01-31T00:00:00Z', card });
  const { id } = await subscribe(api, { customer_id: customer.customerId, plan_id: plan.planId, ...fields });
  await advanceTo(api, customer.clockId, at);
  const use = (timestamp: string) =>
    created(api, '/events', {
      event_name: plan.eventName,
      external_customer_id: customer.externalId,
      timestamp,
      properties: {},
    });
  await use(hoursAfter(at, -1));
  return { ...customer, id, use };
}

export const hoursAfter = (at: string, hours: number) => new Date(Date.parse(at) + hours * 3_600_000).toISOString();

/** A price of another period than the plan's subscriptions have: it changes the plan and none of their lines. */
export function otherPrice(api: Api, plan: TestPlan) {
  return created(api, '/prices', {
    ...{ entity_type: 'PLAN', entity_id: plan.planId, billing_model: 'FLAT_FEE', billing_period: 'ANNUAL' },
    ...{ currency: 'usd', type: 'FIXED', amount: '1', invoice_cadence: 'ADVANCE', display_name: 'Later' },
  });
}

interface ShownInvoice {
  billing_reason: string;
  currency: string;
  total: string | number;
  period_start: string;
  period_end: string;
  line_items: Record<string, string | number>[];
}

/** The lines of invoices and their totals, as a digest promises them. */
export function linesShown(invoices: readonly ShownInvoice[]): string[] {
  return invoices
    .flatMap((invoice) => {
      const on = `invoice ${invoice.billing_reason}`;
      const { currency, total, period_start: start, period_end: end } = invoice;
      const lines = invoice.line_items.map((line) => [
        on,
        `${line.display_name} ${line.price_id ?? ''}`,
        line.quantity,
        line.amount,
        line.period_start,
        line.period_end,
      ]);
      return [...lines, [`${on} total`, currency, 1, total, start, end]];
    })
    .map((line) => JSON.stringify(line.map((value) => String(value ?? ''))))
    .sort();
}

/** What a digest promises of invoices. */
export function linesPromised(digest: string): string[] {
  return readPreviewDigest(digest)
    .lines.filter(({ on }) => on.startsWith('invoice '))
    .map(({ on, name, quantity, amount, start, end }) => JSON.stringify([on, name, quantity, amount, start, end]))
    .sort();
}

/** What a digest promises of one kind: `wallet`, `subscription`, `step`, … */
export const promisedOf = (digest: string, kind: string) =>
  readPreviewDigest(digest).lines.filter(({ on }) => on === kind);

/** A plan of 31.37 a month in advance and 0.10 a call. */
export const previewPlan = (api: Api) => monthlyPlan(api, { fee: '31.37' });
