import type { GrantConfiguration, MeterGrants } from '../allowance/grant.ts';
import { decimalString, storedDecimal } from '../money/money.ts';
import { earlier, type Interval, later, millisecondsBetween } from '../time/calendar.ts';
import type { GrantCycle } from './charge-input.ts';

/**
 * The budgets of a billing period by the plans that gave them: each plan's windows lie in its own time, so that those of a
 * plan that was left end with it. A budget of the whole period is shared out by time as a limit is: units to whole ones, money
 * to hundredths, and never to nothing. spec: catalogue-and-metering §9.2; subscriptions-and-invoicing §2.3.6, §2.9.1
 */
export function grantTenures(grants: MeterGrants, cycle: GrantCycle): { grants: MeterGrants; cycle: Interval }[] {
  const { start, end, fullEnd = end } = cycle;
  if (!grants.tenures) return [{ grants, cycle: { start, end } }];
  return grants.tenures.flatMap((own) => {
    const from = later(own.start ?? start, start);
    const until = earlier(own.end ?? fullEnd, fullEnd);
    const to = earlier(until, end);
    if (from >= to) return [];
    const share = { part: millisecondsBetween(from, until), whole: millisecondsBetween(start, fullEnd) };
    const configurations = own.configurations.map((configuration) => sharedQuota(configuration, share));
    const { mode, measure } = own;
    return [{ grants: { mode, measure, configurations }, cycle: { start: from, end: to } }];
  });
}

function sharedQuota(
  configuration: GrantConfiguration,
  { part, whole }: { part: number; whole: number },
): GrantConfiguration {
  if (configuration.durationUnit !== 'subscription_period' || part === whole) return configuration;
  const exact = storedDecimal(storedDecimal(configuration.quota).times(part).dividedBy(whole));
  const rounded = exact.toDecimalPlaces(configuration.measure === 'quantity' ? 0 : 2);
  return { ...configuration, quota: decimalString(rounded.isZero() ? exact : rounded) };
}
