import {
  deferredGrant,
  firstGrantPeriod,
  followingGrantPeriod,
  type GrantPeriod,
  grantAction,
  grantExpiry,
  proratedCredits,
  upcomingApplications,
} from '../../../billing/wallet/credit-grant.ts';
import type { Adapters, Given } from '../adapter.ts';
import { instant } from '../adapter.ts';

function grantPeriods(given: Given): unknown {
  const grant = {
    cadence: (given.cadence ?? 'RECURRING') as 'RECURRING',
    period: given.period ?? null,
    periodCount: given.period_count ?? null,
    anchor: instant(given.credit_grant_anchor),
    timezone: given.timezone ?? 'UTC',
    startDate: instant(given.first_period_start),
    endDate: given.end_date ? instant(given.end_date) : null,
  };
  const periods: GrantPeriod[] = [];
  let next: GrantPeriod | null = firstGrantPeriod(grant);
  while (next && periods.length < given.count) {
    periods.push(next);
    next = followingGrantPeriod(grant, next);
  }
  return {
    applications: periods.map(({ start, end }) => ({ period_start: start, period_end: end, scheduled_for: start })),
  };
}

function grantDefer(given: Given): unknown {
  const steps: unknown[] = [];
  let { now, retry_count: retries } = given;
  for (let step = 0; step < given.times; step += 1) {
    const { minutes, at, retryCount } = deferredGrant(now, retries);
    steps.push({ backoff_minutes: minutes, scheduled_for: at, retry_count: retryCount });
    now = at;
    retries = retryCount;
  }
  return { steps };
}

function upcomingGrants(given: Given): unknown {
  const applications = given.applications.map((application: Given) => ({
    id: application.id,
    status: application.application_status,
    scheduledFor: instant(application.scheduled_for),
  }));
  const upcoming = upcomingApplications<{ id: string; status: string; scheduledFor: string }>(
    applications,
    instant(given.now),
  );
  return { ids: upcoming.map(({ id }) => id), total: upcoming.length };
}

export const creditGrantAdapters: Adapters = {
  grant_periods: grantPeriods,
  grant_defer: grantDefer,
  upcoming_grants: upcomingGrants,
  grant_expiry: (given) => ({
    expiry_date: grantExpiry(
      {
        type: given.expiration_type,
        duration: given.expiration_duration ?? null,
        unit: given.expiration_duration_unit ?? null,
      },
      instant(given.period_start),
      given.subscription_periods ?? [],
    ),
  }),
  grant_proration: (given) =>
    proratedCredits(
      String(given.credits),
      { start: instant(given.period_start), end: instant(given.period_end) },
      instant(given.attach_at),
    ),
  grant_state_action: (given) => ({
    results: given.subscription_statuses.map((status: string) => {
      const action = grantAction(status, given.cadence);
      return {
        subscription_status: status,
        application_status: action.status,
        next_application_created: action.followed,
      };
    }),
  }),
};
