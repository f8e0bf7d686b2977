import { refundedIntents, settleRefund } from './refund.ts';
import { settleText } from './statements.ts';
import type { ChargeRow, SandboxStore } from './store.ts';

/** One request the gateway received, in order of arrival. */
export interface SandboxCall {
  kind: string;
  intentToken: string | null;
  answer: string;
  calledAt: string;
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
  /** Every capture, for invariant I9: at most one per intent, and their sum equals what the product recorded. */
  captures(): Promise<SandboxCapture[]>;
  capturedTotal(currency: string): Promise<string>;
  /** Charges in state captured without exactly one capture of the same amount, and captures without such a charge; none when sound. */
  inconsistentIntents(): Promise<string[]>;
  /** Ends a refund that never answered. False when none was undecided. */
  settleRefund(token: string, state: 'succeeded' | 'failed'): Promise<boolean>;
  /** Every refund that gave money back. */
  refunds(): Promise<{ token: string; intentToken: string; amount: string; currency: string }[]>;
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
    refunds: () => refundedIntents(store),
    captures: () => store.rows<SandboxCapture>(capturesText),
    capturedTotal: async (currency) => (await store.rows<{ total: string }>(totalText, [currency]))[0]?.total ?? '0',
    inconsistentIntents: async () =>
      (await store.rows<{ intentToken: string }>(inconsistentText)).map((row) => row.intentToken),
    takeNotifications: (limit = 100) => store.rows<SandboxNotification>(takeNotificationsText, [limit]),
  };
}

const callsText = `
select kind, intent_token as "intentToken", answer, to_json(called_at at time zone 'utc') #>> '{}' as "calledAt"
from sandbox_gateway.call where intent_token = $1 order by id`;

const capturesText = `
select intent_token as "intentToken", trim_scale(amount)::text as amount, currency
from sandbox_gateway.capture order by captured_at, intent_token`;

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
