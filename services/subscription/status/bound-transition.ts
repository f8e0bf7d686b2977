import type { Preview, PromisedLine } from '../../../billing/line/binding-preview.ts';
import { decimalText } from '../../../db/rows/columns.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import type { AttendedSubscription } from '../../charging/subscription-snapshot.ts';
import { groupedChildren } from '../../invoice/draft/subscription-group.ts';
import {
  childrenRead,
  heldTo,
  orConflict,
  pricesDigest,
  promisedLines,
  promisedPreview,
  requestDigest,
  usageWatermark,
} from '../../lifecycle/preview-digest.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { lockCaughtUp } from '../period/subscription-catch-up.ts';

/** A pause or a resume that is previewed or held to a preview. */
export interface BoundTransition {
  subscriptionId: string;
  /** The customer's present, unless a preview names its own. */
  at: string;
  /** Null for a preview. */
  previewDigest: string | null;
  /** What is asked for, without the ids that each request makes. */
  request: object;
}

/**
 * Carries a pause or a resume out and answers with the digest of what it read and made: the invoices, what went to the wallet,
 * and the status and period it leaves. With a digest the previewed moment is taken for the present, and another result throws
 * `version_conflict`, which undoes all. docs: previews.md; spec: subscriptions-and-invoicing §1.5 dry_run
 */
export async function boundTransition(
  sql: Sql,
  scope: Scope,
  bound: BoundTransition,
  readUsage: UsageReader,
  transition: (at: string) => Promise<AttendedSubscription>,
): Promise<{ attended: AttendedSubscription; previewDigest: string }> {
  const { environmentId } = scope;
  const { subscriptionId } = bound;
  const promised = promisedPreview(bound.previewDigest, bound.at);
  const at = promised?.at ?? bound.at;
  const before = await lockCaughtUp(sql, scope, { subscriptionId, at }, readUsage);
  const children = await groupedChildren(sql, environmentId, [before]);
  const ids = [subscriptionId, ...children.map(({ id }) => id)];
  const prices = await pricesDigest(sql, environmentId, ids);
  const asked = {
    read: { subscription: before.version, prices, ...childrenRead(children) },
    request: requestDigest(bound.request),
  };
  const known = await recordsOf(sql, environmentId, ids);
  const attended = await orConflict(promised, asked, () => transition(at));
  const made = await recordsOf(sql, environmentId, ids, known);
  const lines = await promisedLines(sql, environmentId, { ...nothingElse, invoiceIds: made.invoiceIds });
  const present: Preview = {
    at,
    ...asked,
    usage: await usageWatermark(sql, environmentId, made.invoiceIds),
    lines: [...lines, ...made.returned, standingOf(attended)],
  };
  return { attended, previewDigest: heldTo(promised, present) };
}

const nothingElse = { subscriptionIds: [], lineItems: [], returned: '0', currency: '' };

interface Records {
  invoiceIds: string[];
  changeKeys: string[];
  /** What went to wallets. */
  returned: PromisedLine[];
}

interface Returned {
  change_key: string;
  currency: string;
  returned_amount: string;
  effective_at: string;
}

/** The invoices and prorations of subscriptions, without those that were known before. */
async function recordsOf(
  sql: Sql,
  environmentId: string,
  subscriptionIds: readonly string[],
  known: Records = { invoiceIds: [], changeKeys: [], returned: [] },
): Promise<Records> {
  const values = [environmentId, [...subscriptionIds]];
  const invoices = await sql.rows<{ id: string }>(
    'select id from invoice where environment_id = $1 and subscription_id = any($2) and not id = any($3)',
    [...values, known.invoiceIds],
  );
  const returned = await sql.rows<Returned & Record<string, unknown>>(
    `select distinct change_key, currency, returned_amount, effective_at from subscription_proration
     where environment_id = $1 and subscription_id = any($2) and returned_amount > 0 and not change_key = any($3)`,
    [...values, known.changeKeys],
  );
  return {
    invoiceIds: invoices.map(({ id }) => id),
    changeKeys: returned.map((row) => row.change_key),
    returned: returned.map(returnedLine),
  };
}

const returnedLine = (row: Returned): PromisedLine => ({
  on: 'wallet',
  name: row.currency,
  quantity: '1',
  amount: decimalText(row.returned_amount),
  start: new Date(row.effective_at).toISOString(),
  end: '',
});

/** How the subscription stands then. */
const standingOf = ({ row }: AttendedSubscription): PromisedLine => ({
  on: 'subscription',
  name: row.status,
  quantity: '1',
  amount: '0',
  start: row.currentPeriodStart,
  end: row.currentPeriodEnd,
});
