import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Adapters, outcome } from '../../vectors/adapter.ts';
import { autoInvoiceThresholdAdapters } from '../../vectors/adapters/auto-invoice-threshold.ts';
import { calendarAdapters } from '../../vectors/adapters/calendar.ts';
import { catalogueAdapters } from '../../vectors/adapters/catalogue.ts';
import { chargeAdapters } from '../../vectors/adapters/charge.ts';
import { commitmentAdapters } from '../../vectors/adapters/commitment.ts';
import { costsheetAdapters } from '../../vectors/adapters/costsheet.ts';
import { creditNoteAdapters } from '../../vectors/adapters/credit-note.ts';
import { entitlementAdapters } from '../../vectors/adapters/entitlement.ts';
import { invoiceAdapters } from '../../vectors/adapters/invoice.ts';
import { pauseAdapters } from '../../vectors/adapters/pause.ts';
import { planChangeAdapters } from '../../vectors/adapters/plan-change.ts';
import { priceSyncAdapters } from '../../vectors/adapters/price-sync.ts';
import { priceUnitAdapters } from '../../vectors/adapters/price-unit.ts';
import { prorationAdapters } from '../../vectors/adapters/proration.ts';
import { subscriptionAdapters } from '../../vectors/adapters/subscription.ts';
import { usageAdapters } from '../../vectors/adapters/usage.ts';
import { readVectors, type Vector } from '../../vectors/read.ts';

const adapters: Adapters = {
  ...autoInvoiceThresholdAdapters,
  ...calendarAdapters,
  ...catalogueAdapters,
  ...chargeAdapters,
  ...commitmentAdapters,
  ...costsheetAdapters,
  ...creditNoteAdapters,
  ...entitlementAdapters,
  ...invoiceAdapters,
  ...pauseAdapters,
  ...planChangeAdapters,
  ...priceSyncAdapters,
  ...priceUnitAdapters,
  ...prorationAdapters,
  ...subscriptionAdapters,
  ...usageAdapters,
};

/**
 * What decides nothing: the only way there is to change a plan in place, a currency of amounts that are only added, the
 * billing period where usage is told by reset window, the name of the one unit there is, and a rate after finalization.
 */
const meaningless: Record<string, string[]> = {
  custom_currency_freeze: ['factor_later'],
  entitlement_charge: ['subscription_billing_period'],
  price_unit_cost: ['price_unit_config.price_unit'],
  plan_change_sequence: ['version'],
  payment_reconciliation: ['currency'],
};

const folder = join(import.meta.dirname, '../../vectors/cases');
const vectors = readdirSync(folder)
  .filter((name) => /subscriptions-and-invoicing|catalogue-and-metering/.test(name))
  .flatMap((name) => readVectors(join(folder, name)));
const kinds = [...Map.groupBy(vectors, ({ kind }) => kind)].filter(([kind]) => kind in adapters);

/** Members that a caller fills as it likes. */
const free = new Set(['properties', 'config_value']);

/** Every member of a value, by its path: `changes[].at`. */
function membersOf(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((element) => membersOf(element, `${path}[]`));
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const own = path === '' ? name : `${path}.${name}`;
    return free.has(name) ? [own] : [own, ...membersOf(member, own)];
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

it.each(kinds)('the adapter of %s reads every member its worked cases have', async (kind: string, cases: Vector[]) => {
  const members = new Set(cases.flatMap(({ given }) => membersOf(given, '')));
  const read = new Set<string>(meaningless[kind]);
  for (const { given } of cases) await outcome(() => adapters[kind]!(observed(given, '', read)));
  expect([...members].filter((member) => !read.has(member))).toEqual([]);
});
