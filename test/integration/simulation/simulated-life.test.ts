import { expect, test } from 'vitest';
import type { Life, Offer, SimulatedInvoice } from '../../simulation/life.ts';
import { oracleBilled } from '../../simulation/oracle.ts';
import { relationOf } from '../../simulation/oracle-charge.ts';
import { randomLife } from '../../simulation/random-life.ts';
import { subscriptionOf, testPlatform } from '../../support/billing.ts';
import { assertInvariants } from '../../support/invariants.ts';
import { beginLife, billedTogether, lead, sendUsage, toldByApi, toldByOracle } from './simulated-life.fixture.ts';

const { api, base } = await testPlatform();
const seed = Number(process.env.SIMULATION_SEED ?? 20_261_122);
const dayMs = 86_400_000;
const monthsOf = { DAILY: 0, WEEKLY: 0, MONTHLY: 1, QUARTERLY: 3, HALF_YEARLY: 6, ANNUAL: 12 };

/** What can be asked for at a creation: prices of the plan that fit its periods, phases that only override them. */
function isAsked(life: Life): boolean {
  const fits = (offer: Offer) => ['equal', 'shorter', 'onetime'].includes(relationOf(offer, life.cadence));
  const overrides = life.phases.every(({ items }) => items.every(({ replaces }) => replaces !== null));
  return monthsOf[life.cadence.unit] > 0 && life.plans.flat().every(fits) && overrides;
}

/** The first periods and commands of a life. */
function shortened(life: Life): Life {
  const days = Math.max(monthsOf[life.cadence.unit] * life.cadence.count * 31 * 5, 200);
  const until = Math.min(life.until, life.start + days * dayMs);
  const plans = life.plans.map((offers) => offers.map(counted));
  const phases = life.phases.map((phase) => ({
    ...phase,
    items: phase.items.map((item) => ({ ...item, offer: counted(item.offer) })),
  }));
  const commands = life.commands.filter(({ at }) => at < until).slice(0, 5);
  return { ...life, plans, phases, until, commands };
}

/** No price has 0 as its least quantity. */
const counted = (offer: Offer): Offer => ({ ...offer, quantity: offer.quantity === '0' ? '1' : offer.quantity });

/** The first life from a seed on of which something holds and to which enough happens. */
function lifeWith(from: number, holds: (life: Life) => boolean): Life {
  for (let at = from; ; at += 1) {
    const whole = randomLife(at);
    if (!isAsked(whole)) continue;
    const life = shortened(whole);
    const types = new Set(life.plans[0]!.map(({ type }) => type));
    if (types.size === 2 && holds(life) && oracleBilled(life).accepted.filter((was) => was).length > 1) return life;
  }
}

const lineCommitments = ({ plans }: Life) => plans[0]!.flatMap(({ commitment }) => commitment ?? []);
const hasCreditLine = ({ lines }: SimulatedInvoice) => lines.some(({ item }) => item === 'credit');
const inheriting = ['inherit', 'disinherit'];
const lives: [string, (life: Life) => boolean][] = [
  ['is changed in many ways', ({ commands }) => new Set(commands.map(({ kind }) => kind)).size > 3],
  ['begins with a trial', ({ trialDays }) => trialDays > 0],
  ['runs on a calendar cycle', ({ calendar, discount }) => calendar && discount !== null],
  ['is discounted for some periods', ({ discountPeriods }) => discountPeriods !== null && discountPeriods < 4],
  ['is committed as a whole', ({ commitment }) => commitment?.trueUp === true && commitment.duration !== null],
  ['has committed lines', (life) => lineCommitments(life).some(({ windowed }) => !windowed)],
  ['is committed by windows', (life) => lineCommitments(life).some(({ times }) => times.length > 0)],
  [
    'is inherited by others',
    ({ commands }) => inheriting.every((wanted) => commands.some(({ kind }) => kind === wanted)),
  ],
  [
    'has a credit for its next invoice',
    (life) => life.destination === 'next_invoice' && oracleBilled(life).invoices.some(hasCreditLine),
  ],
  ['has phases', ({ phases, until }) => phases.filter(({ start }) => start < until).length > 2],
];

test.each(lives)(
  `a subscription that %s is billed through the API as the oracle bills it (from seed ${seed})`,
  async (_what, holds) => {
    const life = lifeWith(seed, holds);
    await api('PUT', '/settings/proration_credit_destination', { value: { destination: life.destination } });
    const begun = await beginLife(api, life);
    await sendUsage(api, life, begun);
    const accepted = await lead(api, life, begun);
    const oracle = oracleBilled(life);
    expect(accepted, `seed ${life.seed}`).toEqual(oracle.accepted);
    expect(await toldByApi(api, begun.id), `seed ${life.seed}`).toEqual(toldByOracle(oracle, life.currency));
    const { subscription_status } = await subscriptionOf(api, begun.id);
    expect(subscription_status.toLowerCase()).toBe(oracle.status);
    await assertInvariants(base);
  },
  180_000,
);

/** A life that is only paused and resumed, for itself. */
const isPlain = ({ discount, tax, phases, heirs, end, trialDays }: Life): boolean =>
  discount === null && tax === null && end === null && trialDays === 0 && phases.length + heirs.length === 0;

/** Another life, in the periods of the first and interrupted with it. */
function beside(life: Life): Life {
  const { start, until, timezone, calendar, anchor, commands, currency } = life;
  const isAlike = ({ cadence }: Life) => cadence.unit === life.cadence.unit && cadence.count === life.cadence.count;
  const other = lifeWith(life.seed + 1, (one) => isPlain(one) && isAlike(one) && one.currency === currency);
  const usage = other.usage.map((event) => ({ ...event, at: event.at - other.start + start }));
  return { ...other, start, until, timezone, calendar, anchor, commands, usage };
}

test(`a group is invoiced together as the oracle bills its subscriptions (from seed ${seed})`, async () => {
  const isInterrupted = ({ commands, currency, cadence }: Life) =>
    currency === 'usd' &&
    cadence.unit === 'MONTHLY' &&
    cadence.count === 1 &&
    commands.every(({ kind }) => kind === 'pause' || kind === 'resume');
  const life = lifeWith(seed, (one) => isPlain(one) && isInterrupted(one));
  const childLife = beside(life);
  const child = await beginLife(api, childLife);
  const parent = await beginLife(api, life, { clockId: child.clockId, groupedId: child.id });
  await sendUsage(api, life, parent);
  await sendUsage(api, childLife, child);
  const accepted = await lead(api, life, parent);
  const [oracle, ofChild] = [oracleBilled(life), oracleBilled(childLife)];
  expect(accepted, `seeds ${life.seed}, ${childLife.seed}`).toEqual(oracle.accepted);
  const isCharged = (told: string) => !told.endsWith(' 0.0000');
  const together = toldByOracle(billedTogether(oracle, ofChild), life.currency);
  expect((await toldByApi(api, parent.id)).filter(isCharged)).toEqual(together.filter(isCharged));
  const opening = toldByOracle({ ...ofChild, invoices: ofChild.invoices.slice(0, 1) }, life.currency);
  expect(await toldByApi(api, child.id)).toEqual(opening);
  await assertInvariants(base);
}, 180_000);
