import type { BillingPeriod, Interval } from '../../billing/calendar.ts';
import type { ChargeLine } from '../../billing/charge.ts';
import { commitCharges } from '../../billing/charge-overage.ts';
import type { SubscriptionCommitment } from '../../billing/commitment.ts';
import { isActive } from '../../billing/commitment.ts';
import { type CommitmentStanding, commitmentStanding } from '../../billing/commitment-period.ts';
import { decimal, decimalString } from '../../billing/money.ts';
import { decimalText } from '../columns.ts';
import type { Sql } from '../transaction.ts';
import type { ChargedItem } from './charged-item.ts';
import type { ChargeRequest } from './subscription-charge.ts';

/** What an invoice must know of the commitments of its subscription before its usage is priced. */
export interface RequestCommitments {
  subscription: SubscriptionCommitment | null;
  planName: string;
  /** Of line items that are committed for several billing periods, by their id. */
  items: Map<string, { prior: string; last: boolean }>;
}

/** A commitment and where it stands; `lineItemId` null is that of the subscription. */
interface Committed extends CommitmentStanding {
  request: ChargeRequest;
  lineItemId: string | null;
}

/**
 * Where the commitments of subscriptions and of line items stand when the requested periods are billed: what earlier invoices
 * of the same commitment periods billed without factors. Nothing is read where nobody committed himself; else two statements
 * for any number of requests. spec: subscriptions-and-invoicing §2.7
 */
export async function readCommitments(
  sql: Sql,
  environmentId: string,
  requests: readonly ChargeRequest[],
  itemsOf: (request: ChargeRequest) => readonly ChargedItem[],
  paused: ReadonlyMap<string, readonly Interval[]>,
): Promise<Map<string, RequestCommitments>> {
  const committed = requests.flatMap((request) =>
    committedBy(request, itemsOf(request), paused.get(request.subscription.id) ?? []),
  );
  if (committed.length === 0) return new Map();
  const planNames = await readPlanNames(sql, environmentId, committed);
  const priors = await readPriors(sql, environmentId, committed);
  const byRequest = Map.groupBy(committed, ({ request }) => request.key);
  return new Map(
    [...byRequest].map(([key, own]) => {
      const ofSubscription = own.find(({ lineItemId }) => lineItemId === null);
      const prior = (lineItemId: string | null): string => priors.get(priorKey(key, lineItemId)) ?? '0';
      return [
        key,
        {
          subscription: ofSubscription ? subscriptionCommitment(ofSubscription, prior(null)) : null,
          planName: planNames.get(own[0]!.request.subscription.planId) ?? '',
          items: new Map(
            own.flatMap(({ lineItemId, last }) =>
              lineItemId === null ? [] : [[lineItemId, { prior: prior(lineItemId), last }]],
            ),
          ),
        },
      ];
    }),
  );
}

function committedBy(request: ChargeRequest, items: readonly ChargedItem[], paused: readonly Interval[]): Committed[] {
  const { elapsed, subscription, reason, pauses = false } = request;
  if (elapsed === null || request.lineItemIds) return [];
  const stands = (lineItemId: string | null, duration: BillingPeriod | null): Committed[] => {
    const standing = commitmentStanding(subscription, duration, { reason, elapsed, pauses, paused });
    return standing ? [{ request, lineItemId, ...standing }] : [];
  };
  const { commitmentAmount: amount, overageFactor, commitmentDuration } = subscription;
  const own = amount !== null && isActive({ amount, overageFactor }) ? stands(null, commitmentDuration) : [];
  const ofItems = items.flatMap(({ item }) =>
    item.commitment?.duration
      ? stands(item.id, item.commitment.duration).filter(({ period }) => period.cumulative)
      : [],
  );
  return [...own, ...ofItems];
}

function subscriptionCommitment({ request, period, last }: Committed, prior: string): SubscriptionCommitment {
  const { commitmentAmount, overageFactor, enableTrueUp } = request.subscription;
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
 * Sums what live invoice lines keep in their derivations, of billed times from the start of the commitment period to that of the
 * billed one; a line of a longer cadence belongs to the time it is billed with.
 */
const priorsText = `
select t.key, sum((part -> 'commitment' ->> 'base')::numeric)::text as base
from unnest($2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[]) as t(key, subscription_id, line_item_id, begun, before)
join invoice_line_item l on l.environment_id = $1 and l.subscription_id = t.subscription_id and l.status = 'published'
  and l.price_type = 'USAGE'
  and (t.line_item_id = '' or l.subscription_line_item_id = t.line_item_id)
join invoice i on i.environment_id = $1 and i.id = l.invoice_id and i.invoice_status in ('DRAFT', 'FINALIZED')
  and i.period_start >= t.begun and i.period_start < t.before
cross join lateral jsonb_array_elements(l.derivation -> 'parts') as part
where part ? 'commitment' group by t.key`;

async function readPriors(
  sql: Sql,
  environmentId: string,
  committed: readonly Committed[],
): Promise<Map<string, string>> {
  const rows = await sql.rows<{ key: string; base: string }>(priorsText, [
    environmentId,
    committed.map(({ request, lineItemId }) => priorKey(request.key, lineItemId)),
    committed.map(({ request }) => request.subscription.id),
    committed.map(({ lineItemId }) => lineItemId ?? ''),
    committed.map(({ period }) => period.start),
    committed.map(({ request }) => request.elapsed!.start),
  ]);
  return new Map(rows.map((row) => [row.key, decimalText(row.base)]));
}

function priorKey(key: string, lineItemId: string | null): string {
  return `${key} ${lineItemId ?? ''}`;
}

/** The item with where its commitment of several billing periods stands. */
export function withStanding(charged: ChargedItem, commitments: RequestCommitments | undefined): ChargedItem {
  const cumulative = commitments?.items.get(charged.item.id);
  const { commitment } = charged.item;
  return cumulative && commitment
    ? { ...charged, item: { ...charged.item, commitment: { ...commitment, cumulative } } }
    : charged;
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
