import pg from 'pg';
import { makeCustomer, makeSubscription } from '../../bench/account.ts';
import type { BenchPlatform } from '../../bench/platform.ts';
import { poll } from '../../dev/processes.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import { invoiceWorkflowId } from '../../workflows/invoice/invoice.messages.ts';
import { paymentWorkflowId } from '../../workflows/payment/payment.messages.ts';
import { subscriptionWorkflowId } from '../../workflows/subscription/subscription.messages.ts';
import { personal } from './personal.ts';

/** A platform with a plan, and what scenarios do with it. */
export interface Stage {
  platform: BenchPlatform;
  planId: string;
  usagePriceId: string;
}

export const eventName = 'call';
export const start = '2026-01-15T00:00:00Z';

interface Life {
  card?: SandboxBehaviour;
  count?: number;
  subscription?: Record<string, unknown>;
}

let customers = 0;
export function newExternalId(): string {
  customers += 1;
  return `customer-${customers}`;
}

/** A subscribed customer on a test clock of its own. */
export async function onClock({ platform, planId }: Stage, life: Life) {
  const clock = await platform.api('POST', '/test-clocks', { frozen_time: start });
  const lived = await subscribed(platform, planId, { ...life, clockId: clock.id });
  return { ...lived, clockId: clock.id };
}

export function inRealTime({ platform, planId }: Stage, life: Life) {
  return subscribed(platform, planId, life);
}

export async function subscribed({ api }: BenchPlatform, planId: string, life: Life & { clockId?: string }) {
  const externalId = newExternalId();
  const customerId = await makeCustomer(api, {
    externalId,
    name: personal.name,
    email: personal.email,
    ...(life.clockId ? { clockId: life.clockId } : {}),
    ...(life.card ? { card: sandboxCardNumber(life.card, life.count) } : {}),
  });
  const metadata = { note: personal.note };
  const body = { customer_id: customerId, plan_id: planId, metadata, ...life.subscription };
  const { id: subscriptionId } = await makeSubscription(api, body);
  return { externalId, customerId, subscriptionId };
}

export async function rowOf(
  stage: Stage,
  text: string,
  values: unknown[],
): Promise<Record<string, string> | undefined> {
  const [row] = await asOwner(stage, text, values);
  return row;
}

export async function asOwner(
  { platform }: Stage,
  text: string,
  values: unknown[] = [],
): Promise<Record<string, string>[]> {
  const client = new pg.Client({ connectionString: platform.ownerUrl });
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

export async function paymentOf(stage: Stage, subscriptionId: string): Promise<string> {
  const text = `select p.id from payment p join invoice i on i.id = p.destination_id where i.subscription_id = $1 order by p.created_at limit 1`;
  return (await until(async () => (await rowOf(stage, text, [subscriptionId]))?.id)) as string;
}

/** The payer confirms the charge of a payment at the sandbox gateway, or fails it. */
export async function payerAnswers(stage: Stage, paymentId: string, answer: 'confirm' | 'fail'): Promise<void> {
  const row = await rowOf(stage, 'select intent_token from payment where id = $1', [paymentId]);
  const waited = await stage.platform.gateway.operator[answer](row?.intent_token ?? '');
  if (!waited) throw new Error(`no charge of ${paymentId} waited for its payer`);
}

export async function draftOf(stage: Stage, subscriptionId: string): Promise<string> {
  const text = `select id from invoice where subscription_id = $1 and invoice_status = 'DRAFT'`;
  return (await until(async () => (await rowOf(stage, text, [subscriptionId]))?.id)) as string;
}

export async function paidInvoices(stage: Stage, subscriptionId: string): Promise<number> {
  const text = `select count(*) as paid from invoice where subscription_id = $1 and payment_status = 'SUCCEEDED' and invoice_status = 'FINALIZED'`;
  return Number((await rowOf(stage, text, [subscriptionId]))?.paid);
}

export function workflowOf({ platform }: Stage, subscriptionId: string) {
  return platform.temporal.workflow.getHandle(subscriptionWorkflowId(subscriptionId));
}

/** The running workflow of the subscription's first invoice, as soon as there is one. */
export async function invoiceWorkflowOf(stage: Stage, subscriptionId: string) {
  const text = 'select id from invoice where subscription_id = $1 and attended order by billing_sequence limit 1';
  const row = await rowOf(stage, text, [subscriptionId]);
  return row?.id ? runningOrNothing(stage, invoiceWorkflowId(row.id)) : undefined;
}

export async function paymentWorkflowOf(stage: Stage, subscriptionId: string) {
  return runningOrNothing(stage, paymentWorkflowId(await paymentOf(stage, subscriptionId)));
}

export async function until<T>(read: () => Promise<T | undefined>): Promise<T> {
  const found = await poll(read, 45_000, 100);
  if (found === undefined) throw new Error(`still not so after 45 s: ${read}`);
  return found;
}

export function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString();
}

async function runningOrNothing({ platform }: Stage, workflowId: string) {
  const handle = platform.temporal.workflow.getHandle(workflowId);
  const description = await handle.describe().catch(() => undefined);
  return description ? handle : undefined;
}
