import { type Random, seededRandom } from '../faults/random.ts';
import type { OraclePrice } from '../unit/billing/rating-oracle.ts';
import type { Cadence, Command, Life, Offer, Unit } from './life.ts';
import { randomCommitments } from './random-commitment.ts';
import { randomPhases } from './random-phase.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const zones = [
  ...['UTC', 'UTC', 'America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe', 'America/Sao_Paulo'],
  ...['Asia/Kolkata', 'Pacific/Auckland', 'America/St_Johns', 'Africa/Cairo', 'Pacific/Apia', 'America/Santiago'],
];
const roughDays: Record<Unit, number> = {
  DAILY: 1,
  WEEKLY: 7,
  MONTHLY: 30,
  QUARTERLY: 91,
  HALF_YEARLY: 182,
  ANNUAL: 365,
};
export const monthUnits: Unit[] = ['MONTHLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL'];

/** A catalogue, a subscription and what happens to it, all from one seed. */
export function randomLife(seed: number): Life {
  const random = seededRandom(seed);
  const { whole, oneOf } = random;
  const chance = (percent: number) => whole(100) < percent;
  const cadence = randomCadence(random);
  const currency = oneOf(['usd', 'usd', 'eur', 'jpy', 'kwd']);
  const calendar = chance(35);
  const start = Date.UTC(2024, 0, 1) + whole(730) * dayMs + (chance(40) ? 0 : whole(24 * 3600) * 1000);
  const length = lengthOf(cadence, random);
  const plans = randomPlans(random, cadence, currency);
  const until = start + length;
  const life: Life = {
    seed,
    currency,
    timezone: oneOf(zones),
    cadence,
    calendar,
    start,
    anchor: !calendar && chance(30) ? start + whole(roughDays[cadence.unit] * cadence.count) * dayMs : null,
    end: chance(12) ? start + whole(length) + dayMs : null,
    trialDays: chance(20) ? whole(40) + 1 : 0,
    prorate: chance(65),
    folded: chance(40),
    destination: 'auto',
    commitment: null,
    phases: [],
    plans,
    heirs: chance(15) ? Array.from({ length: whole(3) + 1 }, () => chance(60)) : [],
    usage: [],
    discount: chance(30) ? BigInt(whole(10_000) + 1) : null,
    discountPeriods: null,
    tax: chance(30) ? { percentage: BigInt(whole(3000) + 1), isInclusive: chance(40) } : null,
    commands: [],
    until,
  };
  if (chance(40)) life.destination = oneOf(['wallet', 'next_invoice']);
  if (chance(22)) randomCommitments(random, life);
  if (life.end === null && chance(14)) life.phases = randomPhases(random, life);
  life.usage = randomUsage(random, life);
  life.commands = randomCommands(random, life);
  if (life.discount !== null && chance(60)) life.discountPeriods = whole(6) + 1;
  return life;
}

/** Mostly what people sell; days are few, since each of them is a period. */
function randomCadence({ whole, oneOf }: Random): Cadence {
  const unit = oneOf<Unit>([
    ...Array(7).fill('MONTHLY'),
    'QUARTERLY',
    'QUARTERLY',
    'HALF_YEARLY',
    'ANNUAL',
    'ANNUAL',
    'WEEKLY',
    'DAILY',
  ]);
  return { unit, count: whole(100) < 75 ? 1 : whole(3) + 1 };
}

/** From some periods to some years. */
function lengthOf({ unit, count }: Cadence, { whole }: Random): number {
  const periods =
    unit === 'DAILY' ? 40 : unit === 'WEEKLY' ? 40 : Math.max(Math.ceil(1500 / (roughDays[unit] * count)), 4);
  return (whole(periods) + 2) * roughDays[unit] * count * dayMs;
}

function randomPlans(random: Random, cadence: Cadence, currency: string): Offer[][] {
  const { whole } = random;
  const first = Array.from({ length: whole(4) + 1 }, (_, index) =>
    randomOffer(random, `a${index}`, cadence, currency, true),
  );
  const others = Array.from({ length: whole(2) }, (_, plan) =>
    Array.from({ length: whole(3) + 1 }, (_, index) => {
      const id = `${'bc'[plan]}${index}`;
      const same = whole(100) < 30 ? first[whole(first.length)]! : null;
      // What another plan sells is of the subscription's own cadence, or charged once.
      const offered = randomOffer(random, id, cadence, currency, false);
      return same && isSold(same, cadence) ? { ...same, id } : offered;
    }),
  );
  return [first, ...others];
}

const isSold = (offer: Offer, { unit, count }: Cadence): boolean =>
  offer.cadence === null || (offer.cadence.unit === unit && offer.cadence.count === count);

export function randomOffer(random: Random, id: string, own: Cadence, currency: string, any: boolean): Offer {
  const { whole } = random;
  const type = whole(100) < 40 ? 'USAGE' : 'FIXED';
  const once = type === 'FIXED' && whole(100) < 10;
  const cadence = once ? null : any && whole(100) < 45 ? otherCadence(random, own) : own;
  return {
    id,
    type,
    advance: once || (type === 'FIXED' && whole(100) < 65),
    cadence,
    quantity: String(whole(100) < 10 ? 0 : whole(100) < 50 ? 1 : whole(2000) / 100),
    price: randomPrice(random, currency),
    meter: type === 'USAGE' ? `meter ${id}` : null,
    bucket: null,
    commitment: null,
  };
}

/** A part of the subscription's period, or a multiple of it. */
function otherCadence({ whole, oneOf }: Random, own: Cadence): Cadence {
  const index = monthUnits.indexOf(own.unit);
  if (index < 0) return { unit: own.unit, count: own.count * (whole(3) + 1) };
  if (whole(100) < 8) return { unit: oneOf<Unit>(['DAILY', 'WEEKLY']), count: 1 };
  const months = { MONTHLY: 1, QUARTERLY: 3, HALF_YEARLY: 6, ANNUAL: 12 } as Record<Unit, number>;
  const mine = months[own.unit] * own.count;
  const fitting = monthUnits.filter((unit) => mine % months[unit] === 0 || months[unit] % mine === 0);
  return { unit: oneOf(fitting), count: 1 };
}

export function randomPrice({ whole, oneOf }: Random, currency: string): OraclePrice {
  const money = (most: number) => String(whole(most * 1000) / 1000);
  const tiers = () => {
    const ends = [whole(50) + 1, whole(100) + 60];
    const rows = [...ends.map(String), null].map((up_to) => ({
      up_to,
      unit_amount: money(3),
      flat_amount: oneOf([null, money(9)]),
    }));
    return rows.slice(whole(3));
  };
  const model = oneOf(['FLAT_FEE', 'FLAT_FEE', 'PACKAGE', 'VOLUME', 'SLAB', 'PERCENTAGE']);
  if (model === 'FLAT_FEE') return { billing_model: model, currency, amount: money(oneOf([1, 30, 500])) };
  if (model === 'PERCENTAGE') return { billing_model: model, currency, percentage_rate: money(20) };
  if (model === 'PACKAGE') {
    const transform_quantity = { divide_by: whole(9) + 2, round: oneOf(['up', 'down']) };
    return { billing_model: model, currency, amount: money(40), transform_quantity };
  }
  return { billing_model: 'TIERED', currency, tier_mode: model, tiers: tiers() };
}

function offersOf({ plans, phases }: Life): Offer[] {
  return [...plans.flat(), ...phases.flatMap(({ items }) => items.map(({ offer }) => offer))];
}

function randomUsage({ whole }: Random, life: Life): Life['usage'] {
  const length = life.until - life.start;
  const meters = new Set(offersOf(life).flatMap(({ meter }) => meter ?? []));
  return [...meters].flatMap((meter) =>
    Array.from({ length: whole(40) }, () => ({
      meter,
      at: life.start + Math.floor((whole(1_000_000) / 1_000_000) * length),
      quantity: String(whole(3000) / (whole(2) === 0 ? 100 : 1)),
      by: whole(life.heirs.length + 1),
    })),
  );
}

/** What is asked of any subscription. */
type UsualKind = Exclude<Command['kind'], 'inherit' | 'disinherit'>;

const whilePresent: UsualKind[] = ['pause', 'pause', 'quantity', 'plan'];
const whatever: UsualKind[] = [
  ...(['pause', 'pause', 'pause', 'pause', 'resume', 'resume', 'resume', 'resume', 'quantity', 'quantity'] as const),
  ...(['plan', 'plan', 'plan', 'keep', 'keep', 'cancelAt', 'cancelAtPeriodEnd', 'cancelNow', 'cancelNow'] as const),
];

/** Some far apart, some within one period; most follow the state that one would think of, the rest come whatever it is. */
function randomCommands(random: Random, life: Life): Command[] {
  const { whole, oneOf } = random;
  const length = life.until - life.start;
  const commands: Command[] = [];
  let at = life.start;
  let isPaused = false;
  let isEnding = false;
  for (let count = whole(14); count > 0; count -= 1) {
    const reach = whole(100) < 50 ? roughDays[life.cadence.unit] * life.cadence.count * dayMs : length / 3;
    at += hourMs + Math.floor((whole(1_000_000) / 1_000_000) * reach);
    if (at >= life.until) break;
    const isTrial = at < life.start + life.trialDays * dayMs;
    if (life.heirs.length > 0 && whole(100) < 35) {
      const heir = whole(life.heirs.length) + 1;
      commands.push({ at, kind: oneOf(['inherit', 'inherit', 'disinherit']), heir });
      continue;
    }
    // What one would think of in this state, most of the time.
    const expected: UsualKind = isEnding ? 'keep' : isPaused ? 'resume' : oneOf(whilePresent);
    const usual: UsualKind = whole(100) < 70 ? expected : oneOf(whatever);
    const kind: UsualKind = isTrial && whole(100) < 50 ? 'endTrial' : usual;
    if (kind === 'pause' || kind === 'resume') isPaused = kind === 'pause';
    isEnding = kind === 'cancelAt' || kind === 'cancelAtPeriodEnd';
    commands.push(randomCommand(random, life, kind, at));
  }
  return commands;
}

function randomCommand({ whole, oneOf }: Random, life: Life, kind: UsualKind, at: number): Command {
  const prorate = whole(100) < 65;
  switch (kind) {
    case 'pause':
    case 'resume':
      return { at, kind, prorate };
    case 'plan':
      return { at, kind, prorate, plan: whole(life.plans.length) };
    case 'cancelAt':
      return { at, kind, end: at + whole(120) * dayMs - dayMs };
    case 'cancelNow':
      return { at, kind, prorate, invoice: whole(2) === 0, back: whole(3) === 0 ? whole(90) * dayMs : 0 };
    case 'quantity':
      return { at, kind, offer: oneOf(offersOf(life)).id, quantity: String(whole(2000) / 100) };
    default:
      return { at, kind };
  }
}
