import { lifecycleKinds } from '../../lifecycles/kinds.ts';
import { type AgendaItem, sortAgenda } from '../agenda.ts';
import { isCheckoutActive } from './checkout.ts';

/** What decides what time brings to a session. Instants on the customer's clock. */
export interface CheckoutStanding {
  checkoutStatus: string;
  linkState: 'none' | 'open' | 'dead';
  openedAt: string;
  expiresAt: string;
  /** The link's own end at its provider; null when the provider named none. */
  linkExpiresAt: string | null;
  /** When the provider was last asked; null when it never was. */
  askedAt: string | null;
  /** Instant at which a paid session could not be carried out for the first time. */
  completionFailedAt: string | null;
  endedAt: string | null;
}

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const firstPollMs = 15 * secondMs;
const longestPollMs = 15 * minuteMs;
const shortestRetryMs = 2 * secondMs;
const longestRetryMs = 15 * minuteMs;
const patienceMs = 24 * 60 * minuteMs;
const lastLookAfterMs = 15 * minuteMs;
/** End of a link whose provider named none. */
const unknownLinkLifeMs = patienceMs;

const later = (instant: string, byMs: number) => new Date(Date.parse(instant) + byMs).toISOString();

/** As long again as has passed since `since`, within bounds. */
function again(since: string, at: string, [leastMs, mostMs]: readonly [number, number]): string {
  return later(at, Math.min(Math.max(Date.parse(at) - Date.parse(since), leastMs), mostMs));
}

/** Until when a session whose provider does not answer at its end is asked before it is given up. design: money-in-checkout §A6 */
export function expiryGivenUpAt(expiresAt: string): string {
  return later(expiresAt, patienceMs);
}

/** From when on a paid order that cannot be carried out is given up. spec: wallets-and-payments §2.17 Claim */
export function completionGivenUpAt(completionFailedAt: string): string {
  return later(completionFailedAt, patienceMs);
}

/** When a link is asked about for the last time: a quarter of an hour after its own end and after its session's. design: money-in-checkout §A4 */
export function lastLookAt(endedAt: string, linkExpiresAt: string | null): string {
  const end = linkExpiresAt ?? later(endedAt, unknownLinkLifeMs);
  return later(end > endedAt ? end : endedAt, lastLookAfterMs);
}

/**
 * What time brings to a session at `at`: its link is opened, asked about with growing pauses, and closed at its end, where a provider
 * that does not answer is asked for a day; a paid order that could not be carried out is tried again for a day; and a link that may
 * still take money is closed, or asked about one last time, after its session has ended.
 * spec: wallets-and-payments §2.17; design: money-in-checkout §A4, §A6
 */
export function checkoutAgenda(standing: CheckoutStanding, at: string): AgendaItem[] {
  const items = isCheckoutActive(standing.checkoutStatus) ? activeItems(standing, at) : endedItems(standing, at);
  return sortAgenda(
    items.map((item) => ({ ...item, ref: '' })),
    lifecycleKinds.checkout_session.agenda,
  );
}

type Item = Omit<AgendaItem, 'ref'>;

function activeItems(
  { completionFailedAt, linkState, openedAt, expiresAt, askedAt }: CheckoutStanding,
  at: string,
): Item[] {
  if (completionFailedAt !== null) {
    return [
      { at: again(completionFailedAt, at, [shortestRetryMs, longestRetryMs]), kind: 'retryCompletion' },
      { at: completionGivenUpAt(completionFailedAt), kind: 'abandonCompletion' },
    ];
  }
  const end = {
    at: at < expiresAt ? expiresAt : again(expiresAt, at, [shortestRetryMs, longestRetryMs]),
    kind: 'expireSession',
  };
  if (linkState === 'none') {
    const openAt = askedAt === null ? at : again(openedAt, at, [shortestRetryMs, longestRetryMs]);
    return [{ at: openAt, kind: 'openLink' }, end];
  }
  const poll = { at: again(openedAt, at, [firstPollMs, longestPollMs]), kind: 'pollProvider' };
  return poll.at < end.at ? [poll, end] : [end];
}

function endedItems({ linkState, linkExpiresAt, endedAt, expiresAt, askedAt }: CheckoutStanding, at: string): Item[] {
  if (linkState !== 'open') return [];
  const ended = endedAt ?? expiresAt;
  return [
    // A session that a command has ended was not asked about before.
    { at: askedAt === null ? at : again(ended, at, [shortestRetryMs, longestRetryMs]), kind: 'deactivateLink' },
    { at: lastLookAt(ended, linkExpiresAt), kind: 'lastLook' },
  ];
}
