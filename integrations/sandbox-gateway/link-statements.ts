import { chargeColumns } from './statements.ts';

/** $1 intent, $2 id, $3 mode, $4 amount, $5 currency, $6 url, $7 expiry, $8 whether the method is kept, $9 description, $10 metadata. */
export const openLinkText = `
with made as (
  insert into sandbox_gateway.link (intent_token, id, mode, amount, currency, url, expires_at, saves_method, description, metadata)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (intent_token) do nothing returning *
), logged as (
  insert into sandbox_gateway.call (kind, intent_token, request, answer)
  values ('open_link', $1, jsonb_build_object('amount', $4::text, 'currency', $5::text),
    case when exists (select from made) then 'opened' else 'repeated' end)
)
select id, url, to_json(expires_at at time zone 'utc') #>> '{}' || 'Z' as "expiresAt", amount = $4::numeric and currency = $5 as same from (
  select * from made union all
  select * from sandbox_gateway.link where intent_token = $1 and not exists (select from made)) as link`;

/** Reading brings late attempts one step nearer to their end. $1 intent, $2 kind of the call. */
export const nearerText = `
with nearer as (
  update sandbox_gateway.charge set look_ups_left = look_ups_left - 1,
    state = case when look_ups_left <= 1 then 'captured' else state end,
    captured_at = case when look_ups_left <= 1 then clock_timestamp() end
  where link_token = $1 and state = 'processing' and look_ups_left is not null returning *
), captured as (
  insert into sandbox_gateway.capture (intent_token, amount, currency)
  select intent_token, amount, currency from nearer where state = 'captured'
)
insert into sandbox_gateway.call (kind, intent_token, request, answer)
select $2, $1, '{}', case when exists (select from sandbox_gateway.link where intent_token = $1) then 'answered' else 'not_found' end`;

/** A link with its attempts, the first first. $1 intent. */
export const linkText = `
select intent_token, id, mode, trim_scale(amount)::text as amount, currency, url, to_json(expires_at at time zone 'utc') #>> '{}' || 'Z' as expires_at,
  closed_at is not null as closed, waiting_card, saved_card,
  (select jsonb_build_object('token', k.token, 'brand', k.brand, 'lastFour', k.last_four) from sandbox_gateway.card k
   where k.token = coalesce(l.saved_card, case when l.saves_method then (
     select c.card_token from sandbox_gateway.charge c where c.link_token = l.intent_token and c.state = 'captured' order by c.captured_at limit 1) end)
  ) as kept,
  coalesce((select jsonb_agg(jsonb_build_object('id', c.id, 'amount', trim_scale(c.amount)::text, 'currency', c.currency, 'state', c.state,
     'declineReason', c.decline_reason, 'capturedAt', to_json(c.captured_at at time zone 'utc') #>> '{}' || 'Z') order by c.created_at)
   from sandbox_gateway.charge c where c.link_token = l.intent_token), '[]') as charges
from sandbox_gateway.link l where intent_token = $1`;

/** Ends a link, and with it what waits for its payer; what a bank decides goes on. $1 intent. */
export const closeLinkText = `
with closed as (
  update sandbox_gateway.link set closed_at = coalesce(closed_at, clock_timestamp()), waiting_card = null
  where intent_token = $1 returning intent_token
)
update sandbox_gateway.charge set state = 'declined', decline_reason = 'canceled'
where link_token in (select intent_token from closed) and state = 'requires_action'`;

/**
 * An attempt to pay a link, in one statement and one commit. $1 intent of the attempt, $2 card, $3 id, $4 the link. The link's row is
 * locked, so that an attempt comes before its end or after it; a unique index lets one attempt be alive. Without a row the link
 * cannot be paid, or another attempt is under way.
 */
export const payLinkText = `
with link as (
  select * from sandbox_gateway.link where intent_token = $4 and closed_at is null and mode = 'payment' for update
), decided as (
  select card.token, card.behaviour, card.remaining, link.description, link.metadata,
    case card.behaviour when 'captures_less' then case when link.amount > 1 then link.amount - 1 else link.amount / 2 end
      when 'captures_more' then link.amount + 1 else link.amount end as amount,
    case when card.behaviour <> 'captures_otherwise' then link.currency when link.currency = 'eur' then 'usd' else 'eur' end as currency,
    case when card.behaviour in ('declines', 'declines_for_good') or (card.behaviour = 'declines_times' and card.remaining > (
        select count(*) from sandbox_gateway.charge c where c.link_token = $4 and c.behaviour = 'declines_times')) then 'declined'
      when card.behaviour in ('requires_action', 'needs_authentication') then 'requires_action'
      when card.behaviour = 'never_answers' or (card.behaviour = 'answers_late' and card.remaining > 0) then 'processing'
      else 'captured' end as state
  from sandbox_gateway.card, link where card.token = $2
), made as (
  insert into sandbox_gateway.charge
    (id, intent_token, card_token, amount, currency, state, behaviour, decline_reason, look_ups_left, description, metadata, captured_at, link_token)
  select $3, $1, token, amount, currency, state, behaviour,
    case when state = 'declined' then case behaviour when 'declines_for_good' then 'stolen_card' else 'card_declined' end end,
    case when behaviour = 'answers_late' and state = 'processing' then remaining end, description, metadata,
    case when state = 'captured' then clock_timestamp() end, $4
  from decided
  on conflict (link_token) where link_token is not null and not beside and state <> 'declined' do nothing
  returning *
), captured as (
  insert into sandbox_gateway.capture (intent_token, amount, currency)
  select intent_token, amount, currency from made where state = 'captured'
), notified as (
  insert into sandbox_gateway.notification (intent_token, state)
  select $4, 'link_' || state from made, generate_series(1, case when behaviour = 'answers_twice' then 2 else 1 end)
), logged as (
  insert into sandbox_gateway.call (kind, intent_token, request, answer)
  values ('pay_link', $4, jsonb_build_object('card', $2::text), coalesce((select state from made), 'refused'))
)
select ${chargeColumns} from made`;

/**
 * Money that the gateway takes beside the one payment of a link, or after its end: the fault that A8 and late captures are about.
 * $1 intent of the capture, $2 id, $3 the link, $4 card, $5 amount, $6 currency; the link's own where null.
 */
export const captureBesideText = `
with made as (
  insert into sandbox_gateway.charge
    (id, intent_token, card_token, amount, currency, state, behaviour, description, metadata, captured_at, link_token, beside)
  select $2, $1, $4, coalesce($5::numeric, amount), coalesce($6, currency), 'captured', (select behaviour from sandbox_gateway.card where token = $4), description, metadata, clock_timestamp(), $3, true
  from sandbox_gateway.link where intent_token = $3 returning *
), captured as (
  insert into sandbox_gateway.capture (intent_token, amount, currency) select intent_token, amount, currency from made
), notified as (
  insert into sandbox_gateway.notification (intent_token, state) select $3, 'link_captured' from made
)
select ${chargeColumns} from made`;

/** A setup: $1 intent of the link, $2 card, $3 whether it waits for its payer. */
export const setUpText = `
update sandbox_gateway.link set waiting_card = case when $3 then $2 end, saved_card = case when $3 then null else $2 end
where intent_token = $1 and mode = 'setup' and closed_at is null and saved_card is null
returning intent_token`;

/** The payer of a setup confirms or fails. $1 intent, $2 whether it confirms. */
export const settleSetupText = `
update sandbox_gateway.link set saved_card = case when $2 then waiting_card end, waiting_card = null
where intent_token = $1 and waiting_card is not null and closed_at is null returning intent_token`;

/** Uses up one fault that is set for a call. $1 call, $2 intent. */
export const takeFaultText = `
update sandbox_gateway.fault set remaining = remaining - 1
where id = (select id from sandbox_gateway.fault where call = $1 and remaining > 0 and (intent_token is null or intent_token = $2)
  order by id limit 1 for update skip locked)
returning how`;

/** The attempt of a link that is not decided. $1 intent of the link, $2 token of its setup. */
export const attemptUnderWayText = `
select c.state as status, c.intent_token as "attemptToken", k.last_four as "cardLastFour"
from sandbox_gateway.charge c left join sandbox_gateway.card k on k.token = c.card_token
where c.link_token = $1 and not c.beside and c.state in ('requires_action', 'processing')
union all
select 'requires_action', $2, k.last_four from sandbox_gateway.link l join sandbox_gateway.card k on k.token = l.waiting_card
where l.intent_token = $1 and l.closed_at is null limit 1`;
