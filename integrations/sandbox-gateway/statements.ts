/** Columns of a charge as `ChargeRow`, with the amount as a plain decimal without padding. */
export const chargeColumns =
  'id, intent_token, card_token, trim_scale(amount)::text as amount, currency, state, decline_reason, look_ups_left, behaviour';

/** $1 token, $2 behaviour, $3 count, $4 brand, $5 last four. The log of calls names no number. */
export const saveCardText = `
with saved as (
  insert into sandbox_gateway.card (token, behaviour, remaining, brand, last_four) values ($1, $2, $3, $4, $5)
)
insert into sandbox_gateway.call (kind, request, answer)
values ('save_card', jsonb_build_object('last_four', $5::text), 'saved')`;

/**
 * Charges of plain cards, all in one statement and one commit. $1 the requests with an id each, $2 the plain behaviours. An intent
 * that was charged before is answered as it was decided then; what is of another card, or asks for something else, is left out.
 */
export const chargeAtOnceText = `
with asked as (
  select t."intentToken" as intent_token, card.token as card_token, t.amount, t.currency, t.id, card.behaviour, t.description,
    t.metadata, case when card.behaviour = 'declines' then 'declined' else 'captured' end as state
  from jsonb_to_recordset($1::jsonb) as t("intentToken" text, "paymentMethodToken" text, amount numeric, currency text, id text,
    description text, metadata jsonb)
  join sandbox_gateway.card on card.token = t."paymentMethodToken" and card.behaviour = any($2)
), made as (
  insert into sandbox_gateway.charge
    (id, intent_token, card_token, amount, currency, state, behaviour, decline_reason, description, metadata, captured_at)
  select id, intent_token, card_token, amount, currency, state, behaviour, case when state = 'declined' then 'card_declined' end,
    description, metadata, case when state = 'captured' then clock_timestamp() end
  from asked order by intent_token
  on conflict (intent_token) do nothing
  returning *
), captured as (
  insert into sandbox_gateway.capture (intent_token, amount, currency)
  select intent_token, amount, currency from made where state = 'captured'
), answered as (
  select made.*, state as answer from made
  union all
  select known.*, 'repeated' from sandbox_gateway.charge known join asked using (intent_token, card_token, amount, currency)
  where known.state in ('captured', 'declined')
), logged as (
  insert into sandbox_gateway.call (kind, intent_token, request, answer)
  select 'charge', intent_token, jsonb_build_object('amount', trim_scale(amount)::text, 'currency', currency, 'card', card_token), answer
  from answered
)
select ${chargeColumns} from answered`;

/** Reason of a decline, of a charge that the card decides. */
const declineReason = `case behaviour when 'declines_for_good' then 'stolen_card' when 'needs_authentication' then 'authentication_required'
      else 'card_declined' end`;

/**
 * One charge in one statement and one commit. $1 intent, $2 card, $3 amount, $4 currency, $5 id, $6 description, $7 metadata.
 * The card's row is locked, so its count of declines is exact; the unique intent makes the first charge the only one, and a
 * capture is a row of its own whose key is the intent, so that a second one cannot exist. Without a card: no row. `made` is
 * false when the intent was charged before or the request was lost on its way.
 */
export const chargeText = `
with card as (
  select * from sandbox_gateway.card where token = $2 for update
), decided as (
  select card.*, case
    when behaviour = 'unreachable_times' and remaining > 0 then null
    when behaviour in ('declines', 'declines_for_good', 'needs_authentication')
      or (behaviour = 'declines_times' and remaining > 0) then 'declined'
    when behaviour = 'requires_action' then 'requires_action'
    when behaviour = 'never_answers' or (behaviour = 'answers_late' and remaining > 0) then 'processing'
    else 'captured' end as state,
    exists (select from sandbox_gateway.charge where intent_token = $1) as known
  from card
), made as (
  insert into sandbox_gateway.charge
    (id, intent_token, card_token, amount, currency, state, behaviour, decline_reason, look_ups_left, description, metadata, captured_at)
  select $5, $1, token, $3::numeric, $4, state, behaviour,
    case when state = 'declined' then ${declineReason} end,
    case when behaviour = 'answers_late' and state = 'processing' then remaining end,
    $6, $7::jsonb, case when state = 'captured' then clock_timestamp() end
  from decided where state is not null
  on conflict (intent_token) do nothing
  returning *
), captured as (
  insert into sandbox_gateway.capture (intent_token, amount, currency)
  select intent_token, amount, currency from made where state = 'captured'
), counted as (
  update sandbox_gateway.card set remaining = card.remaining - 1
  from decided
  where card.token = decided.token and decided.remaining > 0 and not decided.known
    and (decided.behaviour = 'unreachable_times' or (decided.behaviour = 'declines_times' and exists (select from made)))
), notified as (
  insert into sandbox_gateway.notification (intent_token, state)
  select intent_token, state from made, generate_series(1, 2) where behaviour = 'answers_twice'
), logged as (
  insert into sandbox_gateway.call (kind, intent_token, request, answer)
  select 'charge', $1, jsonb_build_object('amount', $3::text, 'currency', $4::text, 'card', $2::text),
    case when not exists (select from made) and decided.known then 'repeated'
         when decided.state is null then 'lost before arrival'
         else coalesce((select state from made), 'repeated') end
  from decided
)
select ${chargeColumns}, true as made from made
union all
select null, $1, token, null, null, null, null, null, behaviour, false from decided where not exists (select from made)`;

/** The charge of an intent, and whether it was first asked for as now. $1 intent, $2 card, $3 amount, $4 currency. */
export const chargeOfIntentText = `
select ${chargeColumns}, (card_token = $2 and amount = $3::numeric and currency = $4) as same
from sandbox_gateway.charge where intent_token = $1`;

/** A look-up, which also brings a late charge one step nearer to its capture. $1 intent. */
export const lookUpText = `
with nearer as (
  update sandbox_gateway.charge
  set look_ups_left = look_ups_left - 1,
      state = case when look_ups_left <= 1 then 'captured' else state end,
      captured_at = case when look_ups_left <= 1 then clock_timestamp() end
  where intent_token = $1 and state = 'processing' and look_ups_left is not null
  returning *
), captured as (
  insert into sandbox_gateway.capture (intent_token, amount, currency)
  select intent_token, amount, currency from nearer where state = 'captured'
), found as (
  select * from nearer
  union all
  select * from sandbox_gateway.charge where intent_token = $1 and not exists (select from nearer)
), logged as (
  insert into sandbox_gateway.call (kind, intent_token, request, answer)
  values ('look_up', $1, '{}', coalesce((select state from found), 'not_found'))
)
select ${chargeColumns} from found`;

/**
 * Ends an undecided charge. $1 intent, $2 state `captured` or `declined`, $3 reason of a decline, $4 kind of the call.
 * A decided charge stays as it is. The gateway notifies once.
 */
export const settleText = `
with settled as (
  update sandbox_gateway.charge
  set state = $2, decline_reason = $3, look_ups_left = null,
      captured_at = case when $2 = 'captured' then clock_timestamp() end
  where intent_token = $1 and state in ('requires_action', 'processing')
  returning *
), captured as (
  insert into sandbox_gateway.capture (intent_token, amount, currency)
  select intent_token, amount, currency from settled where state = 'captured'
), notified as (
  insert into sandbox_gateway.notification (intent_token, state) select intent_token, state from settled
), logged as (
  insert into sandbox_gateway.call (kind, intent_token, request, answer)
  values ($4, $1, '{}', coalesce((select state from settled), 'unchanged'))
)
select ${chargeColumns} from settled`;
