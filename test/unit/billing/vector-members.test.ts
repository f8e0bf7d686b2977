import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Adapters, outcome } from '../../vectors/adapter.ts';
import { autoInvoiceThresholdAdapters } from '../../vectors/adapters/auto-invoice-threshold.ts';
import { calendarAdapters } from '../../vectors/adapters/calendar.ts';
import { chargeAdapters } from '../../vectors/adapters/charge.ts';
import { commitmentAdapters } from '../../vectors/adapters/commitment.ts';
import { creditNoteAdapters } from '../../vectors/adapters/credit-note.ts';
import { invoiceAdapters } from '../../vectors/adapters/invoice.ts';
import { pauseAdapters } from '../../vectors/adapters/pause.ts';
import { planChangeAdapters } from '../../vectors/adapters/plan-change.ts';
import { prorationAdapters } from '../../vectors/adapters/proration.ts';
import { subscriptionAdapters } from '../../vectors/adapters/subscription.ts';
import { readVectors, type Vector } from '../../vectors/read.ts';

const adapters: Adapters = {
  ...autoInvoiceThresholdAdapters,
  ...calendarAdapters,
  ...chargeAdapters,
  ...commitmentAdapters,
  ...creditNoteAdapters,
  ...invoiceAdapters,
  ...pauseAdapters,
  ...planChangeAdapters,
  ...prorationAdapters,
  ...subscriptionAdapters,
};

/** What decides nothing: the only way there is to change a plan in place, and a currency of amounts that are only added. */
const meaningless: Record<string, string[]> = {
  plan_change_sequence: ['version'],
  payment_reconciliation: ['currency'],
};

const folder = join(import.meta.dirname, '../../vectors/cases');
const vectors = readdirSync(folder)
  .filter((name) => name.includes('subscriptions-and-invoicing'))
  .flatMap((name) => readVectors(join(folder, name)));
const kinds = [...Map.groupBy(vectors, ({ kind }) => kind)].filter(([kind]) => kind in adapters);

/** Every member of a value, by its path: `changes[].at`. */
function membersOf(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((element) => membersOf(element, `${path}[]`));
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const own = path === '' ? name : `${path}.${name}`;
    return [own, ...membersOf(member, own)];
  });
}

/** The same value, which notes the path of every member that is read. */
function observed(value: unknown, path: string, read: Set<string>): unknown {
  if (value === null || typeof value !== 'object') return value;
  return new Proxy(value, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver);
      if (typeof name !== 'string' || !Object.hasOwn(target, name)) return member;
      if (Array.isArray(target)) return observed(member, `${path}[]`, read);
      const own = path === '' ? name : `${path}.${name}`;
      read.add(own);
      return observed(member, own, read);
    },
  });
}

it.each(kinds)('the adapter of %s reads every member its worked cases have', (kind: string, cases: Vector[]) => {
  const members = new Set(cases.flatMap(({ given }) => membersOf(given, '')));
  const read = new Set<string>(meaningless[kind]);
  for (const { given } of cases) outcome(() => adapters[kind]!(observed(given, '', read)));
  expect([...members].filter((member) => !read.has(member))).toEqual([]);
});
