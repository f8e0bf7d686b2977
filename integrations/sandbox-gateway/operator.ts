import type { FaultyCall, SandboxFault } from './fault.ts';
import { captureBeside } from './link.ts';
import { refundedIntents, reverseRefund, settleRefund } from './refund.ts';
import { settleText } from './statements.ts';
import type { ChargeRow, SandboxStore } from './store.ts';

/** One request the gateway received, in order of arrival. */
export interface SandboxCall {
  kind: string;
  intentToken: string | null;
  answer: string;
  calledAt: string;
}

/** Money taken by one charge of a link. */
export interface SandboxLinkCapture {
  linkToken: string;
  /** The gateway's id of the charge. */
  chargeId: string;
  amount: string;
  currency: string;
}

/** What was captured for one intent. */
export interface SandboxCapture {
  intentToken: string;
  amount: string;
  currency: string;
}

/** A notification the gateway sends; the same one may come twice. */
export interface SandboxNotification {
  intentToken: string;
  state: string;
}

/** What a person at the gateway's side can do and see. Checks and tests use it as independent evidence. */
export interface SandboxOperator {
  /** The payer confirms, or a charge that never answered is captured. False when nothing was waiting. */
  confirm(intentToken: string): Promise<boolean>;
  /** The payer fails, or a charge that never answered is declined. False when nothing was waiting. */
  fail(intentToken: string, reason?: string): Promise<boolean>;
  callsOf(intentToken: string): Promise<SandboxCall[]>;
  /** Every capture of a saved card, for invariant I9: at most one per intent, and their sum equals what the product recorded. */
  captures(): Promise<SandboxCapture[]>;
  /** Every capture of a link; each is one payment of the product. */
  linkCaptures(): Promise<SandboxLinkCapture[]>;
  capturedTotal(currency: string): Promise<string>;
  /** Charges in state captured without exactly one capture of the same amount, and captures without such a charge; none when sound. */
  inconsistentIntents(): Promise<string[]>;
  /** Ends a refund that never answered. False when none was undecided. */
  settleRefund(token: string, state: 'succeeded' | 'failed'): Promise<boolean>;
  /** Takes back a refund that had succeeded. False when none had. */
  reverseRefund(token: string): Promise<boolean>;
  /** Every refund that gave money back. */
  refunds(): Promise<{ token: string; intentToken: string; amount: string; currency: string }[]>;
  /**
   * The next `times` calls of a kind, for one intent or for all, fail: `unreachable` before they have an effect, `loses_answer` after it,
   * `refuses` by a definite answer.
   */
  failNext(call: FaultyCall, how: SandboxFault, options?: { times?: number; intentToken?: string }): Promise<void>;
  /** Captures an attempt that waits or is undecided at a link. False when there was none. */
  confirmLink(intentToken: string): Promise<boolean>;
  /** Declines an attempt that waits or is undecided at a link. False when there was none. */
  failLink(intentToken: string, reason?: string): Promise<boolean>;
  /**
   * Takes money for a link whatever became of it, beside what was paid or after it was closed. Answers the gateway's id of the charge;
   * null for an unknown link.
   */
  captureLink(
    intentToken: string,
    cardToken: string,
    taken?: { amount?: string; currency?: string },
  ): Promise<string | null>;
  /** Takes waiting notifications, oldest first, at most `limit`. */
  takeNotifications(limit?: number): Promise<SandboxNotification[]>;
}

export function sandboxOperator(store: SandboxStore): SandboxOperator {
  const settle = async (intentToken: string, state: 'captured' | 'declined', reason: string | null, kind: string) => {
    const settled = await store.rows<ChargeRow>(settleText, [intentToken, state, reason, kind]);
    return settled.length > 0;
  };
  return {
    confirm: (intentToken) => settle(intentToken, 'captured', null, 'confirm'),
    fail: (intentToken, reason = 'authentication_failed') => settle(intentToken, 'declined', reason, 'fail'),
    callsOf: (intentToken) => store.rows<SandboxCall>(callsText, [intentToken]),
    settleRefund: (token, state) => settleRefund(store, token, state),
    reverseRefund: (token) => reverseRefund(store, token),
    refunds: () => refundedIntents(store),
    captures: () => store.rows<SandboxCapture>(capturesText),
    linkCaptures: () => store.rows<SandboxLinkCapture>(linkCapturesText),
    capturedTotal: async (currency) => (await store.rows<{ total: string }>(totalText, [currency]))[0]?.total ?? '0',
    inconsistentIntents: async () =>
      (await store.rows<{ intentToken: string }>(inconsistentText)).map((row) => row.intentToken),
    failNext: async (call, how, { times = 1, intentToken = null as string | null } = {}) => {
      await store.rows(faultText, [call, intentToken, how, times]);
    },
    confirmLink: async (intentToken) => {
      const attempt = await undecidedAttempt(store, intentToken);
      return attempt !== null && settle(attempt, 'captured', null, 'confirm');
    },
    failLink: async (intentToken, reason = 'authentication_failed') => {
      const attempt = await undecidedAttempt(store, intentToken);
      return attempt !== null && settle(attempt, 'declined', reason, 'fail');
    },
    captureLink: (intentToken, cardToken, taken = {}) => captureBeside(store, intentToken, cardToken, taken),
    takeNotifications: (limit = 100) => store.rows<SandboxNotification>(takeNotificationsText, [limit]),
  };
}

async function undecidedAttempt(store: SandboxStore, intentToken: string): Promise<string | null> {
  const text = `select intent_token from sandbox_gateway.charge where link_token = $1 and state in ('requires_action', 'processing')`;
  const [attempt] = await store.rows<{ intent_token: string }>(text, [intentToken]);
  return attempt?.intent_token ?? null;
}

const callsText = `
select kind, intent_token as "intentToken", answer, to_json(called_at at time zone 'utc') #>> '{}' as "calledAt"
from sandbox_gateway.call where intent_token = $1 order by id`;

const faultText = `
insert into sandbox_gateway.fault (call, intent_token, how, remaining) values ($1, $2, $3, $4)`;

const capturesText = `
select intent_token as "intentToken", trim_scale(c.amount)::text as amount, c.currency
from sandbox_gateway.capture c join sandbox_gateway.charge using (intent_token) where link_token is null order by c.captured_at, intent_token`;

const linkCapturesText = `
select link_token as "linkToken", charge.id as "chargeId", trim_scale(c.amount)::text as amount, c.currency
from sandbox_gateway.capture c join sandbox_gateway.charge using (intent_token) where link_token is not null order by c.captured_at, intent_token`;

const totalText = `
select coalesce(trim_scale(sum(amount)), 0)::text as total from sandbox_gateway.capture where currency = $1`;

const inconsistentText = `
select coalesce(charge.intent_token, capture.intent_token) as "intentToken"
from (select * from sandbox_gateway.charge where state = 'captured') charge
full join sandbox_gateway.capture capture on capture.intent_token = charge.intent_token
where charge.amount is distinct from capture.amount or charge.currency is distinct from capture.currency`;

const takeNotificationsText = `
with taken as (
  update sandbox_gateway.notification set taken_at = clock_timestamp()
  where id in (select id from sandbox_gateway.notification where taken_at is null order by id limit $1 for update skip locked)
  returning id, intent_token, state
)
select intent_token as "intentToken", state from taken order by id`;
