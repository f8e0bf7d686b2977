/**
 * Joins the number of the customer that a subject `s` belongs to, as `holder.number`: who gave the external id up, or who has it in the
 * environment `$2`; null where it belongs to nobody. Both that and the customer are found by an index, however many customers there
 * are: policies of rows keep PostgreSQL from using one for a condition that contains a query, hence the join that is not merged.
 */
export const holderOfSubject = `
cross join lateral (select case when s.holder is null then (select h.number from customer h
  where h.environment_id = $2 and h.external_id = s.external_id and h.status = 'published') else s.holder end as number offset 0) holder`;
