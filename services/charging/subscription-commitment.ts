import type { SubscriptionCommitment } from '../../billing/commitment/commitment.ts';
import { isActive } from '../../billing/commitment/commitment.ts';
import type { ChargeLine, PlannedCharge } from '../../billing/line/charge.ts';
import { commitmentKey } from '../../billing/line/charge-commitment.ts';
import { commitCharges } from '../../billing/line/charge-overage.ts';
import { type CommitmentStanding, commitmentStanding } from '../../billing/line/commitment-period.ts';
import { decimal, decimalString } from '../../billing/money/money.ts';
import type { Interval } from '../../billing/time/calendar.ts';
import { decimalText } from '../../db/rows/columns.ts';
import type { Sql } from '../../db/transaction.ts';
import type { ChargeRequest } from './charge-request.ts';

/** What an invoice must know of the commitments of its subscription before its usage is priced. */
export interface RequestCommitments {
  subscription: SubscriptionCommitment | null;
  planName: string;
  /** Used of the commitments of line items that last several charge periods, by `commitmentKey`. */
  prior: Record<string, string>;
}

/** What is to be billed, planned. */
export interface PlannedRequest {
  request: ChargeRequest;
  planned: readonly PlannedCharge[];
}

/** A commitment whose use since `since` counts, of times that began before `before`; `lineItemId` null is that of the subscription. */
interface Committed {
  request: ChargeRequest;
  lineItemId: string | null;
  since: string;
  before: string;
  /** Of the subscription's. */
  standing?: CommitmentStanding;
}

/**
 * Where the commitments of subscriptions and of line items stand when the requested periods are billed: what earlier invoices
 * of the same commitment periods billed without factors. Nothing is read where nobody committed himself; else two statements
 * for any number of requests. spec: subscriptions-and-invoicing §2.7
 */
export async function readCommitments(
  sql: Sql,
  environmentId: string,
  plans: readonly PlannedRequest[],
  paused: ReadonlyMap<string, readonly Interval[]>,
): Promise<Map<string, RequestCommitments>> {
  const committed = plans.flatMap(({ request, planned }) => [
    ...ofSubscription(request, paused.get(request.subscription.id) ?? []),
    ...ofItems(request, planned),
  ]);
  if (committed.length === 0) return new Map();
  const planNames = await readPlanNames(sql, environmentId, committed);
  const priors = await readPriors(sql, environmentId, committed);
  const byRequest = Map.groupBy(committed, ({ request }) => request.key);
  return new Map(
    [...byRequest].map(([key, own]) => {
      const whole = own.find(({ lineItemId }) => lineItemId === null);
      const items = own.flatMap((one) => (one.lineItemId === null ? [] : [[keyOf(one), priors.get(priorKey(one))]]));
      return [
        key,
        {
          subscription: whole?.standing
            ? subscriptionCommitment(whole.request, whole.standing, priors.get(priorKey(whole)) ?? '0')
            : null,
          planName: planNames.get(own[0]!.request.subscription.planId) ?? '',
          prior: Object.fromEntries(items.filter(([, base]) => base !== undefined)),
        },
      ];
    }),
  );
}

function ofSubscription(request: ChargeRequest, paused: readonly Interval[]): Committed[] {
  const { elapsed, subscription, reason, pauses = false } = request;
  const { commitmentAmount: amount, overageFactor, commitmentDuration } = subscription;
  if (elapsed === null || request.lineItemIds || amount === null || !isActive({ amount, overageFactor })) return [];
  const standing = commitmentStanding(subscription, commitmentDuration, { reason, elapsed, pauses, paused });
  if (!standing) return [];
  return [{ request, lineItemId: null, since: standing.period.start, before: elapsed.start, standing }];
}

/** Each commitment period of an item that is billed, as it stands before the first of its charge periods. */
function ofItems(request: ChargeRequest, planned: readonly PlannedCharge[]): Committed[] {
  const first = new Map<string, Committed>();
  for (const { item, parts } of planned) {
    for (const { commitmentPeriod, billedBefore, start } of parts) {
      if (!commitmentPeriod) continue;
      const key = commitmentKey(item.id, commitmentPeriod.start);
      const standing = { request, lineItemId: item.id, since: commitmentPeriod.start };
      if (!first.has(key)) first.set(key, { ...standing, before: billedBefore?.from ?? start });
    }
  }
  return [...first.values()];
}

function subscriptionCommitment(
  { subscription }: ChargeRequest,
  { period, last }: CommitmentStanding,
  prior: string,
): SubscriptionCommitment {
  const { commitmentAmount, overageFactor, enableTrueUp } = subscription;
  return { amount: commitmentAmount!, overageFactor, trueUp: enableTrueUp, prior, cumulative: period.cumulative, last };
}

async function readPlanNames(sql: Sql, environmentId: string, committed: readonly Committed[]) {
  const ids = [...new Set(committed.map(({ request }) => request.subscription.planId))];
  const rows = await sql.rows<{ id: string; name: string }>(
    'select id, name from plan where environment_id = $1 and id = any($2)',
    [environmentId, ids],
  );
  return new Map(rows.map((row) => [row.id, row.name]));
}

/**
 * Sums what lines of live and skipped invoices keep in their derivations, since usage too small for any money is used of a
 * commitment all the same: for a subscription, of billed times from the start of the commitment period to that of the billed
 * one, where a line of a longer cadence belongs to the time it is billed with; for an item, of the charge periods before the
 * billed ones that say they belong to the commitment period. The lateral parts are asked a row: a planner that has not seen the
 * tables yet would go through all invoices.
 */
const priorsText = `
select t.key, sum((part -> 'commitment' ->> 'base')::numeric)::text as base
from unnest($2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[]) as t(key, subscription_id, line_item_id, begun, before)
join subscription_line_item s on s.environment_id = $1 and s.subscription_id = t.subscription_id and t.line_item_id in ('', s.id)
cross join lateral (
  select l.invoice_id, l.derivation from invoice_line_item l where l.environment_id = $1 and l.subscription_line_item_id = s.id
    and l.period_end >= t.begun and l.status = 'published' and l.price_type = 'USAGE' offset 0) l
cross join lateral (
  select i.period_start from invoice i where i.environment_id = $1 and i.id = l.invoice_id and i.invoice_status in ('DRAFT', 'FINALIZED', 'SKIPPED')
    and i.period_end > t.begun offset 0) i
cross join lateral jsonb_array_elements(l.derivation -> 'parts') as part
where part ? 'commitment' and case t.line_item_id when '' then i.period_start >= t.begun and i.period_start < t.before
  else (part -> 'commitment' ->> 'since')::timestamptz = t.begun and (part ->> 'periodStart')::timestamptz < t.before end
group by t.key`;

async function readPriors(
  sql: Sql,
  environmentId: string,
  committed: readonly Committed[],
): Promise<Map<string, string>> {
  const rows = await sql.rows<{ key: string; base: string }>(priorsText, [
    environmentId,
    committed.map(priorKey),
    committed.map(({ request }) => request.subscription.id),
    committed.map(({ lineItemId }) => lineItemId ?? ''),
    committed.map(({ since }) => since),
    committed.map(({ before }) => before),
  ]);
  return new Map(rows.map((row) => [row.key, decimalText(row.base)]));
}

function priorKey(committed: Committed): string {
  return `${committed.request.key} ${keyOf(committed)}`;
}

function keyOf({ lineItemId, since }: Committed): string {
  return lineItemId === null ? '' : commitmentKey(lineItemId, since);
}

/** The lines of an invoice under the commitment of its subscription. spec: subscriptions-and-invoicing §2.7.1 */
export function committedLines(
  lines: ChargeLine[],
  { subscription: row, elapsed }: ChargeRequest,
  commitments: RequestCommitments | undefined,
): ChargeLine[] {
  const commitment = commitments?.subscription;
  if (!commitment || !elapsed) return lines;
  const { planName } = commitments;
  return commitCharges(lines, {
    commitment: { ...commitment, amount: decimalString(decimal(commitment.amount)) },
    currency: row.currency,
    planName,
    periodStart: elapsed.start,
    periodEnd: elapsed.end,
  });
}
