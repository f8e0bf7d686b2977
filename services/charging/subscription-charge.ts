import { type ChargeLine, planCharges, priceCharges, usageQuestions } from '../../billing/line/charge.ts';
import { periodTerms } from '../../billing/line/period-allowance.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { meteredParts } from '../catalogue/entitlement/entitlement-part.ts';
import { recordGrants } from '../usage/entitlement-grant.ts';
import type { UsageReader, UsageReadQuestion } from '../usage-reader.ts';
import { readBilledTime } from './billed-time.ts';
import type { ChargeRequest } from './charge-request.ts';
import { type BilledFacts, type ChargedItem, readItems } from './charged-item.ts';
import { readIntermediateInvoices } from './intermediate-invoice.ts';
import { readPausedStretches } from './pause-read.ts';
import { committedLines, readCommitments } from './subscription-commitment.ts';
import { inheritedUsage, withInherited } from './subscription-family.ts';
import type { SubscriptionRow } from './subscription-row.ts';

/** A computed line with what stays on the invoice besides. */
export type BilledLine = ChargeLine & BilledFacts & { child?: MergedChild };

/** Of a line of a child on its parent's invoice: whose it is. spec: subscriptions-and-invoicing §2.13 */
export interface MergedChild {
  subscription: SubscriptionRow;
  planName: string;
}

/**
 * Computes the lines of any number of invoices of one environment: items, prices, allowances and usage are each read once
 * for all of them. The same function serves previews, closes and recomputations; what is billed, and not only looked at, brings
 * the records of budgets up to date. spec: subscriptions-and-invoicing §2.6
 */
export async function computeCharges(
  sql: Sql,
  scope: Scope,
  requests: readonly ChargeRequest[],
  readUsage: UsageReader,
): Promise<Map<string, BilledLine[]>> {
  const charges = await rateCharges(sql, scope, requests, readUsage);
  const billed = requests.filter((request) => !request.withoutBilled);
  await recordGrants(
    sql,
    scope,
    billed.map(({ key, subscription }) => ({ subscription, lines: charges.get(key) ?? [] })),
  );
  return charges;
}

/** The lines of `computeCharges`, for who only looks at them: changes nothing, and no records of budgets either. */
export async function rateCharges(
  sql: Sql,
  scope: Scope,
  requests: readonly ChargeRequest[],
  readUsage: UsageReader,
): Promise<Map<string, BilledLine[]>> {
  const subscriptions = new Map(requests.map((request) => [request.subscription.id, request.subscription]));
  const ids = [...subscriptions.keys()];
  const isBilled = requests.some((request) => !request.withoutBilled);
  const [items, parts, billed, paused, intermediate, inherited] = await Promise.all([
    readItems(sql, scope.environmentId, ids),
    meteredParts(sql, scope.environmentId, ids),
    isBilled ? readBilledTime(sql, scope.environmentId, ids, earliest(requests)) : [],
    readPausedStretches(sql, scope.environmentId, ids),
    readIntermediateInvoices(sql, scope.environmentId, requests.flatMap(startsOf)),
    inheritedUsage(sql, scope.environmentId, [...subscriptions.values()]),
  ]);
  const partsOf = Map.groupBy(parts, (part) => part.subscriptionId);

  const itemsOf = ({ terms, subscription, lineItemIds }: ChargeRequest): ChargedItem[] =>
    [...(terms?.items ?? items.get(subscription.id) ?? [])].filter(({ item }) => lineItemIds?.has(item.id) ?? true);

  const plans = requests.map((request) => {
    const { subscription } = request;
    const own = itemsOf(request);
    const { allowances, grants } =
      request.terms ?? periodTerms(partsOf.get(subscription.id) ?? [], lastInstant(request));
    const planned = planCharges({
      reason: request.reason,
      subscription,
      elapsed: request.elapsed,
      next: request.next,
      ...(request.usageUntil === undefined ? {} : { usageUntil: request.usageUntil }),
      items: own.map(({ item }) => item),
      ...(request.resume ? { resume: request.resume } : {}),
      paused: paused.get(subscription.id) ?? [],
      allowances,
      grants,
      intermediate: intermediate.get(subscription.id) ?? [],
      billed: request.withoutBilled
        ? []
        : billed.filter((line) => line.subscriptionId === subscription.id && line.invoiceId !== request.ownInvoiceId),
    });
    const facts = new Map(own.map(({ item, facts }) => [item.id, facts]));
    return { request, planned, facts, filters: new Map(own.map(({ item, filters }) => [item.id, filters])) };
  });

  const commitments = await readCommitments(sql, scope.environmentId, plans, paused);
  const questions: UsageReadQuestion[] = plans.flatMap(({ request, planned, filters }) =>
    usageQuestions(planned).map((question) => ({
      key: `${request.key} ${question.key}`,
      meterId: question.meterId,
      customerId: request.subscription.customerId,
      ...withInherited(inherited.get(request.subscription.id), question),
      from: question.from,
      to: question.to,
      filters: filters.get(question.lineItemId) ?? null,
      bucketSize: question.bucketSize,
      ...(question.eachEvent ? { eachEvent: question.eachEvent } : {}),
      timezone: request.subscription.timezone,
      billingAnchor: request.subscription.billingAnchor,
    })),
  );
  const answers = questions.length === 0 ? new Map() : await readUsage(sql, scope, questions);
  return new Map(
    plans.map(({ request, planned, facts }) => {
      const own = Object.fromEntries(
        usageQuestions(planned).map(({ key }) => [key, answers.get(`${request.key} ${key}`)]),
      );
      const committed = commitments.get(request.key);
      const lines = committedLines(priceCharges(planned, own, committed?.prior), request, committed);
      return [request.key, lines.map((line) => ({ ...line, ...factsOf(line, facts, request.subscription) }))];
    }),
  );
}

/** A line without an item, which is the true-up of a commitment, is the plan's. */
function factsOf(line: ChargeLine, facts: Map<string, BilledFacts>, { planId }: SubscriptionRow): BilledFacts {
  const ofItem = line.subscriptionLineItemId === null ? undefined : facts.get(line.subscriptionLineItemId);
  return ofItem ?? { meterDisplayName: null, entityType: 'plan', entityId: planId };
}

/** Where billed periods begin, which intermediate invoices may have cut. */
function startsOf({ subscription, elapsed, next }: ChargeRequest): { subscriptionId: string; start: string }[] {
  return [elapsed, next].flatMap((period) =>
    period ? [{ subscriptionId: subscription.id, start: period.start }] : [],
  );
}

/** The end of what is billed in arrear, which decides what is in force. */
function lastInstant({ subscription, elapsed, next }: ChargeRequest): string {
  return elapsed?.end ?? next?.start ?? subscription.currentPeriodStart;
}

/** Where the oldest period begins that is charged, which may lie before the current one; null where none has elapsed. */
function earliest(requests: readonly ChargeRequest[]): string | null {
  return requests.flatMap(({ elapsed }) => elapsed?.start ?? []).sort()[0] ?? null;
}
