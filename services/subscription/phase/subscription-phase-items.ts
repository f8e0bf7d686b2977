import type { NewPhase, NewSubscription } from '../../../billing/subscription/new-subscription.ts';
import { type OwnStretch, ownStretches, type PhaseTerm } from '../../../billing/subscription/phase.ts';
import { later } from '../../../billing/time/calendar.ts';
import type { PhaseTerms } from '../../../db/entities/subscription/subscription-phase.ts';
import { newId } from '../../../db/id.ts';
import { updateText, writeRows } from '../../../db/rows/bulk.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import { type LineItemRecord, newLineItems } from '../item/new-line-items.ts';
import { insertLineItems, type PlanPrice } from '../item/subscription-item.ts';

/** What a subscription has apart from its phases: the prices of its plan, and its line items, those of the prices first. */
export interface BaseItems {
  planName: string;
  prices: readonly PlanPrice[];
  items: readonly LineItemRecord[];
}

/** What a phase does to the line items, and which of them is there for a price while it runs. */
export interface PhaseItems {
  terms: Required<PhaseTerms>;
  itemOfPrice: Map<string, string>;
}

/**
 * Writes the line items of phases with their prices. Those of the first are in force; the others wait as drafts, which nothing
 * bills or shows, beside those of the plan that come back where a phase leaves a price alone again. What the first phase
 * overrides is taken off the plan's items. Throws what `newLineItems` throws, with the phase in the field.
 * spec: subscriptions-and-invoicing §2.3.1 step 22, §2.3.3, §2.9.5
 */
export async function writePhaseItems(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  base: BaseItems,
  input: Pick<NewSubscription, 'lineItemCommitments'> & { phases: readonly NewPhase[] },
): Promise<PhaseItems[]> {
  const { phases } = input;
  const made: PhaseItems[] = [];
  const waiting: LineItemRecord[] = [];
  for (const [index, phase] of phases.entries()) {
    const { items, terms, itemOfPrice } = await itemsOfPhase(sql, scope, row, base, phase, { index, input });
    await insertLineItems(sql, items);
    if (index > 0) waiting.push(...items);
    made.push({ terms, itemOfPrice });
  }
  const resumed = await placeOwnItems(sql, row, base, phases, made);
  await insertLineItems(sql, resumed);
  await putAside(sql, scope, [...waiting, ...resumed]);
  return made;
}

interface MadePhase extends PhaseItems {
  items: LineItemRecord[];
}

async function itemsOfPhase(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  base: BaseItems,
  phase: NewPhase,
  { index, input }: { index: number; input: Pick<NewSubscription, 'lineItemCommitments'> },
): Promise<MadePhase> {
  const named = new Set(phase.overrideLineItems.map(({ priceId }) => priceId));
  const prices = base.prices.filter(({ id }) => named.has(id));
  const commitments = Object.entries(input.lineItemCommitments).filter(([id]) =>
    prices.some((price) => price.id === id),
  );
  const inPhase = { ...row, startDate: phase.startDate, endDate: phase.endDate ?? row.endDate };
  const own = { ...phase, lineItemCommitments: Object.fromEntries(commitments) };
  const within = { path: `phases[${index}].`, noun: 'phase' as const };
  const records = await newLineItems(sql, scope, inPhase, { name: base.planName, prices }, own, within);
  const items = records.map((item) => ({ ...item, subscriptionPhaseId: phase.phaseId })).filter(isEverInForce);
  const kept = new Set(items.map(({ id }) => id));
  const itemOfPrice = new Map(
    records.flatMap((item) => (kept.has(item.id) ? [[item.priceId as string, item.id]] : [])),
  );
  for (const [position, price] of prices.entries()) {
    const item = records[position];
    if (item && kept.has(item.id)) itemOfPrice.set(price.id, item.id);
  }
  const begins = index === 0 ? [] : [...kept];
  return { items, itemOfPrice, terms: { begins, replaces: [...named], resumes: [] } };
}

/**
 * Fits the plan's own items between the overrides: the one that is there waits where the first phase overrides its price, and a
 * copy begins at each later phase that leaves the price alone again. A one-time charge does not come back. Gives the copies.
 */
async function placeOwnItems(
  sql: Sql,
  row: SubscriptionRow,
  base: BaseItems,
  phases: readonly NewPhase[],
  made: readonly PhaseItems[],
): Promise<LineItemRecord[]> {
  const terms = phases.map(({ startDate: start, endDate: end }): PhaseTerm => ({ start, end }));
  const copies: LineItemRecord[] = [];
  const ownItems = made.map(() => new Map<string, string>());
  for (const [position, item] of base.items.entries()) {
    const price = base.prices[position];
    const overridden = made.map((phase) => price !== undefined && phase.terms.replaces.includes(price.id));
    const stretches = ownStretches(overridden, terms, row.endDate).filter(
      ({ phase }) => phase === 0 || item.billingPeriod !== 'ONETIME',
    );
    for (const [nth, stretch] of stretches.entries()) {
      const startDate = later(stretch.start, item.startDate as string);
      const present = nth === 0 ? { ...item, startDate } : { ...item, id: newId('subs_line'), startDate };
      if (!isEverInForce(present)) continue;
      if (stretch.phase > 0) begin(stretch, present.id, made);
      if (nth > 0) copies.push(present);
      for (const [index, own] of ownItems.entries()) {
        if (index < stretch.phase || overridden[index]) continue;
        for (const priceId of [item.priceId as string, price?.id ?? '']) own.set(priceId, present.id);
      }
    }
    if (overridden[0]) await postpone(sql, row, item, stretches[0]?.start ?? null);
  }
  for (const [index, own] of ownItems.entries()) {
    const { itemOfPrice } = made[index]!;
    for (const [priceId, id] of own) if (!itemOfPrice.has(priceId)) itemOfPrice.set(priceId, id);
  }
  return copies;
}

function begin({ phase }: OwnStretch, itemId: string, made: readonly PhaseItems[]): void {
  const terms = made[phase]?.terms;
  if (terms) terms.begins.push(itemId);
  else made.at(-1)?.terms.resumes.push(itemId);
}

/** An item of the plan that the first phase overrides: it begins later, or never. */
async function postpone(sql: Sql, row: SubscriptionRow, item: LineItemRecord, start: string | null): Promise<void> {
  await sql.rows(
    `update subscription_line_item set status = $3, start_date = greatest(start_date, $4::timestamptz),
       end_date = case when $4::timestamptz is null then start_date else end_date end
     where environment_id = $1 and id = $2`,
    [row.environmentId, item.id, start === null ? 'deleted' : 'draft', start],
  );
}

const setStatus = updateText('subscription_line_item', { id: 'text', status: 'text', updatedBy: 'text' });

async function putAside(sql: Sql, scope: Scope, items: readonly LineItemRecord[]): Promise<void> {
  const aside = items.map(({ id }) => ({ id, status: 'draft', updatedBy: scope.actor }));
  await writeRows(sql, setStatus, aside);
}

function isEverInForce({ startDate, endDate }: LineItemRecord): boolean {
  return endDate === null || (endDate as string) > (startDate as string);
}
