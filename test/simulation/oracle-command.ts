import { rounded } from '../support/oracles/invoice-oracle.ts';
import { fraction, nothing, plain, plus } from '../unit/billing/rating-oracle.ts';
import type { Command, Offer, SimulatedLine } from './life.ts';
import type { OracleLife } from './oracle.ts';
import {
  fixedAmount,
  linesOf,
  type OracleItem,
  ordinaryShares,
  ownPeriods,
  relationOf,
  type Share,
  shareOfOwn,
} from './oracle-charge.ts';
import { add, type Note, restOf } from './oracle-credit.ts';
import { disinherit, inherit, isParent } from './oracle-family.ts';

/** Carries a command out, and says whether it was one that the state allows. spec: subscriptions-and-invoicing §2.9 – §2.12 */
export function obey(life: OracleLife, command: Command): boolean {
  const { at } = command;
  switch (command.kind) {
    case 'pause':
      return pause(life, at, command.prorate);
    case 'resume':
      return resume(life, at, command.prorate);
    case 'cancelNow':
      return cancelNow(life, command);
    case 'cancelAt':
      return cancelLater(life, at, command.end);
    case 'cancelAtPeriodEnd':
      return cancelLater(life, at, null);
    case 'keep':
      return keep(life);
    case 'endTrial':
      return endTrialNow(life, at);
    case 'quantity':
      return changeQuantity(life, at, command);
    case 'plan':
      return changePlan(life, at, command);
    case 'inherit':
      return inherit(life, at, command.heir);
    case 'disinherit':
      return disinherit(life, at, command.heir);
  }
}

const isActiveAt = ({ end }: OracleItem, at: number): boolean => end === null || end > at;

/** §2.11 */
function pause(life: OracleLife, at: number, prorate: boolean): boolean {
  if (life.status !== 'active' || at < life.start) return false;
  if (life.pauses.some(({ start, end }) => start === at || end === at)) return false;
  if (prorate) giveBack(life, at, `pause ${at}`);
  const elapsed = life.timeOf(life.start, at);
  life.invoice('SUBSCRIPTION_UPDATE', elapsed, life.linesFor({ arrear: elapsed, closing: true, settles: true }));
  life.status = 'paused';
  life.pauseSince = life.start;
  life.start = at;
  life.pauseStart = at;
  return true;
}

/** §2.11 Resume, Charge at resume */
function resume(life: OracleLife, at: number, prorate: boolean): boolean {
  if (life.status !== 'paused') return false;
  if (life.start < at) life.invoice('SUBSCRIPTION_CYCLE', { start: life.start, end: at }, []);
  life.status = 'active';
  life.start = at;
  life.pauses.push({ start: life.pauseStart, end: at, since: life.pauseSince });
  const time = life.timeOf(at, life.end);
  if (!prorate && time.usage.start !== at) return true;
  const lines = life.inOrder().flatMap((item): SimulatedLine[] => {
    if (life.directionOf(item) !== 'advance') return [];
    return linesOf(item, chargedAgain(life, item, at, prorate), time, life.timeline);
  });
  if (lines.some(({ amount }) => amount !== 0n)) life.invoice('SUBSCRIPTION_UPDATE', time, lines);
  return true;
}

/** Nothing that is paid for: omitted where the pause began in the same full period and gave no credit. */
function chargedAgain(life: OracleLife, item: OracleItem, at: number, prorate: boolean): Share[] {
  const time = life.timeOf(at, life.end);
  const cause = `pause ${life.pauseStart}`;
  const credited = (share: Share) => life.books.gaveBack(item.id, share, cause);
  if (relationOf(item.offer, life.life.cadence) === 'longer') {
    return ownPeriods(item, life.end, life.timeline).flatMap((own) => {
      if (!prorate && own.start < at) return [];
      const paid = Math.max(own.start, item.start) <= life.pauseStart;
      return shareOfOwn(item, own, at).filter((share) => (!paid && !life.isBilled(item, share)) || credited(share));
    });
  }
  const sameFullPeriod = life.pauseStart >= time.usage.start;
  // What came into force during the pause was not paid for before it.
  const isPaid = sameFullPeriod && item.start <= life.pauseStart;
  return ordinaryShares(item, time, life.timeline).filter((share) => !isPaid || credited(share));
}

/** §2.12 immediate */
function cancelNow(life: OracleLife, { at, back, prorate, invoice }: Command & { kind: 'cancelNow' }): boolean {
  if (life.status === 'cancelled') return false;
  const effective = Math.max(at - back, life.start);
  const { status, start } = life;
  if (prorate && status !== 'trialing') giveBack(life, effective, 'cancellation', at);
  life.finish(effective);
  const elapsed = life.timeOf(start, effective);
  const bills = start < effective && status !== 'trialing';
  if (bills && status === 'paused') life.invoice('SUBSCRIPTION_CYCLE', elapsed, []);
  else if (bills && invoice) life.invoice('PRORATION', elapsed, life.linesFor({ arrear: elapsed, closing: true }));
  life.carried.release(at);
  return true;
}

/** §2.12 scheduled_date, and end_of_period where no end is given */
function cancelLater(life: OracleLife, at: number, end: number | null): boolean {
  if (life.status === 'cancelled' || life.before !== null || (end !== null && end <= at)) return false;
  life.before = { cancelAt: life.cancelAt, endsAt: life.endsAt };
  if (end === null) {
    life.atPeriodEnd = true;
    life.cancelAt = life.end;
    return true;
  }
  const effective = Math.min(end, life.endsAt ?? end);
  life.cancelAt = effective;
  life.endsAt = effective;
  life.end = Math.min(life.end, effective);
  return true;
}

/** §2.4 scheduled: the earlier dates count again. */
function keep(life: OracleLife): boolean {
  if (life.before === null || life.status === 'cancelled') return false;
  life.cancelAt = life.before.cancelAt;
  life.endsAt = life.before.endsAt;
  life.before = null;
  life.atPeriodEnd = false;
  const uncut = life.status === 'trialing' ? life.trialEnd : life.whole(life.start).end;
  life.end = Math.min(uncut, life.endsAt ?? uncut);
  return true;
}

/** §2.10 modify trial_end immediate */
function endTrialNow(life: OracleLife, at: number): boolean {
  if (life.status !== 'trialing') return false;
  if (life.atPeriodEnd) life.cancelAt = at;
  life.trialEnd = at;
  life.end = at;
  life.boundary();
  return true;
}

/** §2.9.3 */
function changeQuantity(life: OracleLife, at: number, wanted: { offer: string; quantity: string }): boolean {
  const { prorate, cadence } = life.life;
  const old = life.items.filter((item) => item.offer.id === wanted.offer && isActiveAt(item, at)).at(-1);
  if (!old || life.status !== 'active' || old.offer.type === 'USAGE' || old.offer.cadence === null) return false;
  if (old.quantity === wanted.quantity) return true;
  if (prorate && old.offer.advance && relationOf(old.offer, cadence) !== 'equal') return false;
  const { isOfPhase, end } = old;
  const copy = { ...life.itemOf(old.offer, at), end, isOfPhase, quantity: wanted.quantity };
  settle(life, at, { ended: [old], started: [copy], capped: false, prorate });
  old.end = at;
  life.items.push(copy);
  return true;
}

/** §2.9.1 */
function changePlan(life: OracleLife, at: number, { plan, prorate }: { plan: number; prorate: boolean }): boolean {
  const { cadence, plans } = life.life;
  const changeable = life.status === 'active' || life.status === 'trialing';
  if (plan === life.plan || !changeable || life.cancelAt !== null || life.life.phases.length > 0 || isParent(life, at))
    return false;
  const ofPlan = (offer: Offer) => !['longer', 'finer'].includes(relationOf(offer, cadence));
  // Without a list only prices of the subscription's own cadence are attached, and one-time ones. §2.3.2
  const free = plans[plan]!.filter((offer) => ['equal', 'onetime'].includes(relationOf(offer, cadence)));
  if (free.every((offer) => offer.cadence === null)) return false;
  const present = life.items.filter((item) => ofPlan(item.offer) && isActiveAt(item, at));
  const matches = present.map((item) => {
    const index = free.findIndex((offer) => identityOf(offer) === identityOf(item.offer));
    return { item, offer: index < 0 ? null : (free.splice(index, 1)[0] as Offer) };
  });
  const ended = matches.filter(({ offer }) => offer === null).map(({ item }) => item);
  const isOther = (offer: Offer) => offer.type === 'FIXED' && offer.advance && relationOf(offer, cadence) === 'shorter';
  if (prorate && [...ended.map(({ offer }) => offer), ...free].some(isOther)) return false;
  for (const { item, offer } of matches) if (offer) item.offer = offer;
  const started = free.map((offer) => life.itemOf(offer, at));
  if (life.status === 'active') settle(life, at, { ended, started, capped: true, prorate });
  for (const item of ended) item.end = at;
  life.items.push(...started);
  life.plan = plan;
  return true;
}

/** Same amount, model, cadence and meter. §2.9.1 */
const identityOf = ({ type, advance, cadence, meter, price }: Offer): string =>
  JSON.stringify([type, advance, cadence, meter, price]);

/** The unused part of every advance charge, to the wallet. §2.8.2 pause, cancellation */
function giveBack(life: OracleLife, from: number, cause: string, at = from): void {
  const paused = life.status === 'paused' ? `pause ${life.pauseStart}` : null;
  const notes = life.items.flatMap((item) => {
    if (!isActiveAt(item, from)) return [];
    const rest = { start: from, end: Number.MAX_SAFE_INTEGER };
    if (paused !== null && life.books.gaveBack(item.id, rest, paused)) return [];
    return creditsOf(life, item, from, cause, true);
  });
  returnTo(life, from, at, notes);
}

/** What goes back of an item, no more than is left of its bill; a cap is shared out over its windows in proportion. */
function creditsOf(life: OracleLife, item: OracleItem, from: number, cause: string, capped: boolean): Note[] {
  const shares = restOf(item, life.timeOf(life.start, life.end), from, life.timeline);
  const amounts = shares.map((share) => fixedAmount(item, share, life.life.currency));
  const whole = amounts.reduce((all, amount) => all + amount, 0n);
  const cap = life.books.capOf(item.id, from);
  const given = capped && cap < whole ? cap : whole;
  let before = 0n;
  return shares.map(({ start, end }, index) => {
    const [low, high] = [before, before + amounts[index]!].map((part) =>
      whole === 0n ? 0n : rounded(given * part, whole),
    );
    before += amounts[index]!;
    return { item: item.id, start, end, amount: high! - low!, cause };
  });
}

function returnTo(
  life: OracleLife,
  from: number,
  at: number,
  credits: readonly Note[],
  charges: readonly Note[] = [],
  isForInvoice = false,
): void {
  const wanted = add(credits) - add(charges);
  const room = life.books.roomAt(from);
  const amount = wanted < room ? wanted : room;
  life.books.credited.push(...credits);
  life.books.netted.push(...charges);
  life.books.settled.push({ credits, charges, amount });
  if (amount <= 0n) return;
  if (isForInvoice) life.carried.give(amount);
  else life.result.returned.push({ at, amount });
}

/** Credits of a wallet pay usage: without any, the next invoice takes a credit off. Decision 50 */
function isForInvoice(life: OracleLife, at: number, { ended, started }: Exchange): boolean {
  const { destination } = life.life;
  const after = [...life.items.filter((item) => !ended.includes(item)), ...started];
  const hasUsage = after.some((item) => item.offer.type === 'USAGE' && isActiveAt(item, at));
  return destination === 'next_invoice' || (destination === 'auto' && !hasUsage);
}

interface Exchange {
  ended: readonly OracleItem[];
  started: readonly OracleItem[];
  capped: boolean;
  prorate: boolean;
}

/** One settlement of what ends and what begins. §2.8.3 */
export function settle(life: OracleLife, at: number, exchange: Exchange): void {
  const { ended, started, capped, prorate } = exchange;
  if (!prorate) return;
  const credits = ended.flatMap((item) => creditsOf(life, item, at, 'change', capped));
  const time = life.timeOf(life.start, life.end);
  const charges = started.flatMap((item) =>
    restOf(item, time, at, life.timeline).map((share) => {
      const amount = fixedAmount(item, share, life.life.currency);
      return { item: item.id, start: share.start, end: share.end, amount, cause: 'change' };
    }),
  );
  const net = charges.reduce((all, { amount }) => all + amount, 0n) - add(credits);
  if (net > 0n) {
    const lines = [
      ...started.flatMap((item) => lineOf(item, charges, 1n)),
      ...ended.flatMap((item) => lineOf(item, credits, -1n)),
    ];
    life.items.push(...started);
    life.invoice('SUBSCRIPTION_UPDATE', { start: at, end: life.end }, lines, true);
    life.items.splice(life.items.length - started.length);
    life.books.credited.push(...credits);
    return;
  }
  if (credits.length + charges.length === 0) return;
  returnTo(life, at, at, credits, charges, isForInvoice(life, at, exchange));
}

/** An item has one line in a settlement, folded where it is charged by windows. §2.6.3 */
function lineOf({ id, quantity }: OracleItem, notes: readonly Note[], sign: bigint): SimulatedLine[] {
  const own = notes.filter(({ item }) => item === id);
  const [first] = own;
  if (!first) return [];
  const whole = plain(own.map(() => fraction(quantity)).reduce(plus, nothing));
  return [{ item: id, start: first.start, end: own.at(-1)!.end, quantity: whole, amount: sign * add(own) }];
}
