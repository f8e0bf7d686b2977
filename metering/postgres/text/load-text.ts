import { added, addedWithLatest } from './append-text.ts';

/**
 * The statements that store what `stageBatch` copied, in this order. They are what the one statement of `appendText` does,
 * taken apart so that nothing has to be joined while all events are new, and with sums that are already made. Locks are
 * taken in its order, keys, roll-ups, distinct values, each by primary key, so the two never wait for each other in a
 * circle. The one parameter of those of events is the environment. design: usage.md Writing
 */

/** Keeps the keys, all of them or none: what is already there is a unique violation. A rival that holds one is waited for. */
export const newKeysText = `
insert into usage.event_key (env, key, seq) select $1::int, key, seq from pg_temp.incoming_event where not is_copy order by key`;

/** Keeps the keys that are new; as many rows as there are. */
export const keysText = `${newKeysText}
on conflict do nothing`;

/**
 * Finds the events whose key another one has, and returns their places in the batch. The look-up is written so that it is one
 * of the index for each event, however many keys there are.
 */
export const copiesFoundText = `
update pg_temp.incoming_event i set is_copy = true
where not i.is_copy and (select k.seq from usage.event_key k where k.env = $1 and k.key = i.key) is distinct from i.seq returning i.ord`;

export const eventsText = `
insert into usage.event (seq, subject, ts, ingested_at, key, env, event_name, event_id, source, props)
select seq, subject, ts, now() + ord * interval '1 microsecond', key, $1::int, event_name, event_id, source, props
from pg_temp.incoming_event where not is_copy`;

export const copiesText = `
insert into usage.event_copy (env, key, ingested_at, ts, event_id, external_customer_id, event_name, source, props)
select $1::int, i.key, clock_timestamp(), i.ts, coalesce(i.event_id, i.key::text), s.external_id, name.name, i.source, i.props
from pg_temp.incoming_event i
join usage.subject s on s.number = i.subject
join usage.event_name name on name.env = $1 and name.number = i.event_name
where i.is_copy order by i.key, i.ord`;

/** Adds sums to roll-ups. `keepsLatest` is true when any of them has a latest value. */
export function rollupsText(keepsLatest: boolean): string {
  return `
insert into usage.rollup as r (env, meter, version, subject, bucket, group_key, n, s, st, mx, mn, lt, li, lid, lv)
select $1, g.meter, g.version, g.subject, g.bucket, g.group_key, g.n, g.s, g.st, g.mx, g.mn, g.lt,
  now() + g.lo * interval '1 microsecond', g.lid, g.lv
from unnest($2::int[], $3::int[], $4::bigint[], $5::timestamptz[], $6::text[], $7::bigint[], $8::numeric[], $9::numeric[],
  $10::numeric[], $11::numeric[], $12::timestamptz[], $13::int[], $14::text[], $15::numeric[])
  as g(meter, version, subject, bucket, group_key, n, s, st, mx, mn, lt, lo, lid, lv)
order by g.meter, g.version, g.subject, g.bucket, g.group_key collate "C"
${keepsLatest ? addedWithLatest : added}`;
}

export const distinctValuesText = `
insert into usage.distinct_value (env, meter, version, subject, day, h)
select $1, d.meter, d.version, d.subject, d.day, d.h
from unnest($2::int[], $3::int[], $4::bigint[], $5::date[], $6::uuid[]) as d(meter, version, subject, day, h)
order by 2, 3, 4, 5, 6
on conflict do nothing`;
