import { type GrantTerms, meterGrants } from '../../../billing/allowance/grant.ts';
import { grantFolding } from '../../../billing/allowance/grant-usage.ts';
import { type Decimal, decimal, decimalString, roundToCurrency, sum } from '../../../billing/money/money.ts';
import { costOfQuantity } from '../../../billing/price/price.ts';
import { knownZone } from '../../../metering/series.ts';
import { utcInstant } from '../../../metering/timestamp.ts';
import type { Adapters, Given } from '../adapter.ts';
import { usageSource } from '../usage-source.ts';
import { priceTerms } from './catalogue.ts';
import { copiesOf } from './metering.ts';

async function measured(given: Given, grants: Given[]) {
  const parts = grants.map((grant) => ({
    id: grant.id ?? 'grant',
    isEnabled: true,
    aggregationMode: grant.aggregation_mode ?? (given.grants ? 'parallel' : 'additive'),
    grant: grantTerms(grant),
  }));
  const cycle = { start: utcInstant(given.cycle.start)!, end: utcInstant(given.cycle.end)! };
  const evaluation = { aggregation: given.aggregation, filters: given.filters ?? [], from: cycle.start, to: cycle.end };
  const question = {
    tenures: [{ grants: meterGrants(parts)!, cycle }],
    billed: cycle,
    timezone: knownZone(given.timezone),
    costOf: (quantity: Decimal) => costOf(given, quantity),
  };
  const isMultiplied = given.aggregation.type === 'SUM_WITH_MULTIPLIER';
  const fold = grantFolding(question)(isMultiplied ? String(given.aggregation.multiplier) : null);
  for (const event of await usageSource().eachEvent(copiesOf(given.events), evaluation)) fold.add(event);
  return fold.measured().cycles[0]!;
}

function grantTerms(grant: Given): GrantTerms {
  return {
    measure: grant.grant_measure,
    quota: String(grant.grant_quota),
    durationUnit: grant.grant_duration_unit,
    durationValue: grant.grant_duration_value ?? null,
    allocation: grant.grant_allocation_behavior ?? 'first_usage',
  };
}

async function grantWindows(given: Given): Promise<unknown> {
  const { windows, billable } = await measured(given, [given.grant]);
  const cost = () => (given.grant.grant_measure === 'amount' ? billable : costOf(given, billable));
  return {
    windows: windows.map((window) => ({
      valid_from: window.start,
      valid_to: window.end,
      quota: window.quota,
      usage: window.usage,
      status: window.crossedAt === null ? 'active' : 'exhausted',
      overage: window.overage,
    })),
    overage: decimalString(billable),
    ...(given.price ? charged(cost(), given.price.currency) : {}),
  };
}

async function grantParallelOverage(given: Given): Promise<unknown> {
  const { windows, billable } = await measured(given, given.grants);
  const overage = Object.fromEntries(given.grants.map((grant: Given) => [grant.id, '0']));
  for (const [id, own] of Map.groupBy(windows, (window) => window.entitlementId)) {
    overage[id] = decimalString(sum(own.map((window) => decimal(window.overage))));
  }
  const isMoney = given.grants[0]?.grant_measure === 'amount';
  const cost = () => (isMoney ? billable : costOf(given, billable));
  return {
    per_grant_overage: overage,
    billable_quantity: isMoney ? '0' : decimalString(billable),
    ...(given.price ? charged(cost(), given.price.currency) : {}),
  };
}

function costOf(given: Given, quantity: Decimal): Decimal {
  return costOfQuantity(priceTerms(given.price), quantity).cost;
}

function charged(cost: Decimal, currency: string) {
  return { cost: decimalString(cost), line_amount: decimalString(roundToCurrency(cost, currency)) };
}

export const grantAdapters: Adapters = {
  grant_windows: grantWindows,
  grant_parallel_overage: grantParallelOverage,
};
