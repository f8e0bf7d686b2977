import { randomUUID } from 'node:crypto';
import {
  GatewayOutcomeUnknown,
  type GatewayRefund,
  type GatewayRefundLookUp,
  type RefundRequest,
} from '../payment-gateway.ts';
import type { SandboxStore } from './store.ts';

/** A refund as the gateway keeps it; `succeeded` is the only state in which money moved. */
interface RefundRow {
  id: string;
  token: string;
  amount: string;
  currency: string;
  state: 'succeeded' | 'failed' | 'processing';
  failure_reason: string | null;
  behaviour: string;
  made: boolean;
}

/** The first refund of a token decides; every later request with it gets that refund. More than was captured is refused. */
export async function refundCharge(store: SandboxStore, request: RefundRequest): Promise<GatewayRefund> {
  const [row] = await store.rows<RefundRow>(refundText, [
    request.refundToken,
    request.intentToken,
    request.amount,
    request.currency,
    `sandbox_refund_${randomUUID()}`,
    request.chargeProviderId,
  ]);
  if (!row) throw new Error(`the sandbox gateway captured nothing for ${request.intentToken}`);
  if (!row.made) {
    const known = await lookUpRefund(store, request.refundToken);
    if (known.status === 'not_found') throw new GatewayOutcomeUnknown('the sandbox gateway could not be reached');
    return known;
  }
  if (row.behaviour === 'refund_loses_answer') {
    throw new GatewayOutcomeUnknown('the answer of the sandbox gateway was lost');
  }
  return wireRefund(row);
}

/** A look-up, which also brings a late refund one step nearer to its end. */
export async function lookUpRefund(store: SandboxStore, token: string): Promise<GatewayRefundLookUp> {
  const [row] = await store.rows<RefundRow>(lookUpText, [token]);
  return row ? wireRefund(row) : { status: 'not_found' };
}

/** Ends an undecided refund. False when none was undecided. */
export async function settleRefund(
  store: SandboxStore,
  token: string,
  state: 'succeeded' | 'failed',
): Promise<boolean> {
  const settled = await store.rows(settleText, [token, state]);
  return settled.length > 0;
}

/** Takes a refund back that had succeeded, as banks do when an account is closed. False when none had. */
export async function reverseRefund(store: SandboxStore, token: string): Promise<boolean> {
  const reversed = await store.rows(
    `update sandbox_gateway.refund set state = 'failed', failure_reason = 'returned_by_bank'
     where token = $1 and state = 'succeeded' returning token`,
    [token],
  );
  return reversed.length > 0;
}

/** What was given back of each intent, for the comparison with what the product recorded. */
export async function refundedIntents(
  store: SandboxStore,
): Promise<{ token: string; intentToken: string; amount: string; currency: string }[]> {
  return store.rows(
    `select token, intent_token as "intentToken", trim_scale(amount)::text as amount, currency
     from sandbox_gateway.refund where state = 'succeeded' order by created_at, token`,
  );
}

function wireRefund(row: RefundRow): GatewayRefund {
  return {
    status: row.state,
    gatewayRefundId: row.id,
    amount: row.amount,
    currency: row.currency,
    failureReason: row.failure_reason,
  };
}

const columns = `id, token, trim_scale(amount)::text as amount, currency, state, failure_reason`;

// $1 token, $2 intent, $3 amount, $4 currency, $5 id, $6 the gateway's id of the charge. The charge's row is locked, so two refunds cannot give back more than was captured.
const refundText = `
with charge as (
  select * from sandbox_gateway.charge where (intent_token = $2 or id = $6) and state = 'captured'
  order by (id = $6) desc nulls last limit 1 for update
), decided as (
  select charge.*, (select remaining from sandbox_gateway.card where token = charge.card_token for update) as left_over,
    $3::numeric + (select coalesce(sum(r.amount), 0) from sandbox_gateway.refund r
      where r.intent_token = charge.intent_token and r.state <> 'failed' and r.token <> $1) > charge.amount as too_much
  from charge
), made as (
  insert into sandbox_gateway.refund (id, token, intent_token, amount, currency, state, failure_reason, look_ups_left)
  select $5, $1, decided.intent_token, $3::numeric, $4,
    case when too_much or behaviour = 'refund_fails' or (behaviour = 'refund_fails_times' and left_over > 0) then 'failed'
      when behaviour = 'refund_never_answers' or (behaviour = 'refund_answers_late' and left_over > 0) then 'processing'
      else 'succeeded' end,
    case when too_much then 'more_than_captured' when behaviour = 'refund_fails' or (behaviour = 'refund_fails_times' and left_over > 0) then 'card_closed' end,
    case when behaviour = 'refund_answers_late' then left_over end
  from decided on conflict (token) do nothing returning *
), counted as (
  update sandbox_gateway.card set remaining = card.remaining - 1 from decided
  where card.token = decided.card_token and decided.behaviour = 'refund_fails_times' and decided.left_over > 0 and exists (select from made)
), notified as (
  insert into sandbox_gateway.notification (intent_token, state)
  select $1, 'refund_' || made.state from made, decided, generate_series(1, 2) where decided.behaviour = 'refund_answers_twice'
), logged as (
  insert into sandbox_gateway.call (kind, intent_token, request, answer)
  select 'refund', $1, jsonb_build_object('amount', $3::text, 'currency', $4::text, 'charge', $2::text),
    coalesce((select state from made), 'repeated') from decided
)
select ${columns}, (select behaviour from decided) as behaviour, true as made from made
union all
select null, $1, null, null, null, null, behaviour, false from decided where not exists (select from made)`;

const lookUpText = `
with nearer as (
  update sandbox_gateway.refund set look_ups_left = look_ups_left - 1,
    state = case when look_ups_left <= 1 then 'succeeded' else state end
  where token = $1 and state = 'processing' and look_ups_left is not null returning *
), found as (
  select * from nearer union all
  select * from sandbox_gateway.refund where token = $1 and not exists (select from nearer)
), logged as (
  insert into sandbox_gateway.call (kind, intent_token, request, answer)
  values ('look_up_refund', $1, '{}', coalesce((select state from found), 'not_found'))
)
select ${columns} from found`;

const settleText = `
update sandbox_gateway.refund set state = $2, look_ups_left = null,
  failure_reason = case when $2 = 'failed' then 'refused_by_issuer' end
where token = $1 and state = 'processing' returning token`;
