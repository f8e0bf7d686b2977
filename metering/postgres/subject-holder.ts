/**
 * Joins `holder.number`, the number of the customer that a subject `s` belongs to: the former holder of its external id where that was
 * given up, otherwise the present one in environment `$2`; null for nobody. The query stays apart (`offset 0`): because of the policies
 * of rows, PostgreSQL uses no index for a condition that contains a query, and would compare every customer.
 */
export const holderOfSubject = `
cross join lateral (select case when s.holder is null then (select h.number from customer h
  where h.environment_id = $2 and h.external_id = s.external_id and h.status = 'published') else s.holder end as number offset 0) holder`;
