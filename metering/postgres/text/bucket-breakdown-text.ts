import { pieceText } from './breakdown-text.ts';

/**
 * Groups of usage that is measured by buckets: a row a group, bucket and group of the meter. Parameters 1–19 as in `pieceText`,
 * 12 being where the grid's segments begin; 20 their origins, 21 the grid's step or null.
 */
export const bucketBreakdownText = `${pieceText}, placed as (
  select piece.*, case when $21::interval is null then opens
      else greatest(opens, date_bin($21::interval, piece.at, ($20::timestamptz[])[segment])) end as start
  from piece
  cross join lateral (select width_bucket(piece.at, $12::timestamptz[]) as segment) w
  cross join lateral (select ($12::timestamptz[])[segment] as opens) o
), summed as (
  select ord, grp, own_group collate "C" as own_group, start, sum(n) as n, sum(s) as s, max(mx) as mx
  from placed group by ord, grp, own_group, start
  limit $18
)
select summed.ord, summed.grp, summed.own_group, q.type, summed.n::text as n, summed.s::text as s, summed.mx::text as mx,
  to_char(summed.start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as start
from summed join question q using (ord)
order by summed.ord, summed.grp collate "C", summed.start, summed.own_group`;
