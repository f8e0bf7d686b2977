import type { Billed, Command, Life } from './life.ts';
import { oracleBilled } from './oracle.ts';
import { productBilled } from './product.ts';

/** The first thing on which product and oracle differ; null where they agree to the cent. */
export interface Difference {
  what: string;
  oracle: unknown;
  product: unknown;
}

/** Bills a life twice and compares invoice by invoice. */
export function differenceOf(life: Life): Difference | null {
  return firstDifference(oracleBilled(life), productBilled(life));
}

/** Compares two bills of a life: what was carried out, every invoice with its lines, what went to the wallet, the end. */
export function firstDifference(oracle: Billed, product: Billed): Difference | null {
  const [rows, others] = [rowsOf(oracle), rowsOf(product)];
  for (let index = 0; index < Math.max(rows.length, others.length); index += 1) {
    if (rows[index] !== others[index]) {
      return { what: `row ${index}`, oracle: rows[index] ?? null, product: others[index] ?? null };
    }
  }
  return null;
}

const instant = (at: number | null): string => (at === null ? '' : new Date(at).toISOString());

/** Everything that is compared, as texts. */
function rowsOf(billed: Billed): string[] {
  const invoices = billed.invoices.flatMap((invoice, position) => [
    `${position} ${invoice.reason} ${instant(invoice.start)}–${instant(invoice.end)} ${invoice.skipped ? 'SKIPPED' : invoice.total}`,
    ...invoice.lines.map(
      (line) => `${position} ${line.item} ${instant(line.start)}–${instant(line.end)} ${line.quantity} ${line.amount}`,
    ),
  ]);
  const returned = billed.returned.map(({ at, amount }) => `wallet ${instant(at)} ${amount}`);
  const accepted = billed.accepted.map((was, index) => `command ${index} ${was ? 'carried out' : 'refused'}`);
  return [...accepted, ...invoices, ...returned, `${billed.status} ${instant(billed.endedAt)}`];
}

/** The smallest life that still differs: fewer commands, usage, plans and items, fewer terms. */
export function smallest(life: Life, fails: (life: Life) => boolean): Life {
  let least = life;
  for (let smaller = true; smaller; ) {
    smaller = false;
    for (const candidate of smallerLives(least)) {
      if (!fails(candidate)) continue;
      least = candidate;
      smaller = true;
      break;
    }
  }
  return least;
}

const texts = (_key: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value);

const without = <Item>(all: readonly Item[], index: number): Item[] => all.filter((_, position) => position !== index);

function* smallerLives(life: Life): Generator<Life> {
  if (life.usage.length > 0) yield { ...life, usage: [] };
  for (let size = Math.ceil(life.commands.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < life.commands.length; from += size) {
      yield { ...life, commands: [...life.commands.slice(0, from), ...life.commands.slice(from + size)] };
    }
  }
  const [first = [], ...others] = life.plans;
  if (others.length > 0)
    yield { ...life, plans: [first], commands: life.commands.filter(({ kind }) => kind !== 'plan') };
  for (const plan of life.plans.keys()) {
    for (const index of life.plans[plan]!.keys()) {
      const offers = without(life.plans[plan]!, index);
      if (offers.length > 0) yield { ...life, plans: life.plans.with(plan, offers) };
    }
  }
  for (const [index, phase] of life.phases.entries()) {
    for (const gone of phase.items.keys()) {
      yield { ...life, phases: life.phases.with(index, { ...phase, items: without(phase.items, gone) }) };
    }
  }
  if (life.phases.length > 1) yield { ...life, phases: life.phases.slice(0, -1) };
  const plain: Partial<Life>[] = [
    { heirs: [] },
    { phases: [] },
    { commitment: null },
    { discount: null },
    { discountPeriods: null },
    { tax: null },
    { end: null },
    { trialDays: 0 },
    { anchor: null },
    { folded: false },
    { timezone: 'UTC' },
    { currency: 'usd' },
    { calendar: false },
  ];
  for (const members of plain) {
    const key = Object.keys(members)[0] as keyof Life;
    if (JSON.stringify(life[key], texts) !== JSON.stringify(members[key])) yield { ...life, ...members };
  }
  const last = life.commands.at(-1)?.at ?? life.start;
  for (const until of [last, last + (life.until - last) / 2]) {
    const whole = Math.floor(until);
    if (life.until - whole > 86_400_000) yield { ...life, until: whole };
  }
  for (let size = Math.ceil(life.usage.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < life.usage.length; from += size) {
      yield { ...life, usage: [...life.usage.slice(0, from), ...life.usage.slice(from + size)] };
    }
  }
}

/** A life in words that can be read and run again. */
export function told(life: Life): string {
  const readable = (key: string, value: unknown) => {
    if (typeof value === 'bigint') return `${value}`;
    const isInstant = ['start', 'at', 'end', 'until', 'anchor'].includes(key) && typeof value === 'number';
    return isInstant ? instant(value) : value;
  };
  const { commands, usage, plans, phases, ...terms } = life;
  const line = (value: unknown) => `  ${JSON.stringify(value, readable)}`;
  return [
    line(terms),
    ...plans.flat().map(line),
    ...phases.map(line),
    ...usage.map(line),
    ...commands.map((command: Command) => line(command)),
  ].join('\n');
}
