import type { Derivation } from '../../billing/price/derivation.ts';
import type { Finding, Violation } from '../../db/check/invariant.ts';
import { maxViolations } from '../../db/check/invariant.ts';
import type { Database } from '../../db/orm.ts';
import { decimalText } from '../../db/rows/columns.ts';
import { type Scope, workflowScope } from '../../db/scope.ts';
import { inSqlTransaction, type Sql } from '../../db/transaction.ts';
import { bucketQuestion } from '../../metering/usage-reader.ts';
import type { UsageQuestion, UsageStore } from '../../metering/usage-store.ts';
import { inheritedUsage, withInherited } from '../../services/charging/subscription-family.ts';
import type { InheritedUsage } from '../../services/usage-reader.ts';

/** I4 and I5 in one environment: the usage tables against their events, and finalized lines against usage as it was then. */
export async function checkUsage(
  database: Database,
  metering: UsageStore,
  owner: { tenantId: string; environmentId: string },
): Promise<Finding[]> {
  const scope = workflowScope(owner);
  return inSqlTransaction(database, scope, async (tx) => [
    await keysAgree(tx, scope),
    await rollupsAgree(tx, scope, metering),
    await finalizedLinesAgree(tx, scope, metering),
  ]);
}

async function keysAgree(sql: Sql, scope: Scope): Promise<Finding> {
  const values = [scope.environmentId];
  const [examined] = await sql.rows<{ count: string }>(keyCountText, values);
  const violations = await sql.rows<Violation & { [column: string]: unknown }>(keyDifferencesText, values);
  return {
    id: 'I4',
    rule: 'every event has its key and every key its one event',
    examined: Number(examined?.count ?? 0),
    violations,
  };
}

async function rollupsAgree(sql: Sql, scope: Scope, metering: UsageStore): Promise<Finding> {
  const [examined] = await sql.rows<{ count: string }>(rollupCountText, [scope.environmentId]);
  const differences = await metering.verify(sql, scope);
  return {
    id: 'I4',
    rule: 'roll-ups equal their recomputation from events',
    examined: Number(examined?.count ?? 0),
    violations: differences.slice(0, maxViolations).map((difference) => ({
      object: difference.meterId,
      problem: `customer ${difference.externalCustomerId}, ${difference.bucket}: stored ${difference.stored}, recomputed ${difference.recomputed}`,
    })),
  };
}

const linesAPage = 500;

async function finalizedLinesAgree(sql: Sql, scope: Scope, metering: UsageStore): Promise<Finding> {
  const [dropped] = await sql.rows<{ until: string }>(droppedUntilText, [scope.environmentId]);
  const isComplete = ({ question }: { question: UsageQuestion }) => question.from >= (dropped?.until ?? '');
  const violations: Violation[] = [];
  let examined = 0;
  for (let after = ''; ; ) {
    const lines = await sql.rows<UsageLine>(usageLinesText, [scope.environmentId, after, linesAPage]);
    const last = lines.at(-1);
    if (!last) break;
    const inherited = await inheritedUsage(sql, scope.environmentId, lines.flatMap(parentOf));
    const asked = lines
      .flatMap((line) => questionsOf(line, inherited.get(line.subscription_id ?? '')))
      .filter(isComplete);
    const answers = await metering.usage(
      sql,
      scope,
      asked.map(({ question }) => question),
    );
    examined += asked.length;
    violations.push(
      ...asked.flatMap(({ line, question, billed }) => {
        const value = answers.get(question.key)?.value;
        const problem = `billed ${billed} from ${question.from} to ${question.to}, recomputed at its watermark ${value}`;
        return value !== undefined && decimalText(value) === decimalText(billed) ? [] : [{ object: line, problem }];
      }),
    );
    after = last.id;
  }
  return {
    id: 'I5',
    rule: 'the usage of a finalized line equals its recomputation at its watermark',
    examined,
    violations: violations.slice(0, maxViolations),
  };
}

interface UsageLine {
  id: string;
  customer_id: string;
  subscription_id: string | null;
  in_hierarchy: boolean | null;
  filter_values: Record<string, string[]> | null;
  derivation: Derivation;
  [column: string]: unknown;
}

function parentOf({ subscription_id: id, in_hierarchy }: UsageLine): { id: string; inHierarchy: boolean }[] {
  return id === null ? [] : [{ id, inHierarchy: in_hierarchy === true }];
}

/** A line answers for each of its parts. */
function questionsOf(
  line: UsageLine,
  inherited: readonly InheritedUsage[] | undefined,
): { line: string; billed: string; question: UsageQuestion }[] {
  return line.derivation.parts.flatMap(({ usage }, part) => {
    if (!usage?.watermark || usage.from >= usage.to) return [];
    const { meterId, from, to, watermark } = usage;
    const filters = line.filter_values ? { filters: line.filter_values } : {};
    const asked = { key: `${line.id} ${part}`, meterId, customerIds: [line.customer_id], from, to };
    const question = { ...asked, watermark, asDefinedThen: true as const };
    const others = withInherited(inherited, { from, to });
    const whole = { ...question, ...others, ...filters, ...bucketQuestion(usage.bucketing) };
    return [{ line: line.id, billed: usage.quantity, question: whole }];
  });
}

// Of a meter that was changed before its versions were kept it is not known how it counted then.
const own = '(select number from environment where id = $1)';
const usageLinesText = `
select l.id, coalesce(s.customer_id, i.subscription_customer_id, i.customer_id) as customer_id, s.id as subscription_id, s.in_hierarchy, p.filter_values,
  l.derivation
from invoice_line_item l join invoice i on i.id = l.invoice_id join price p on p.id = l.price_id join meter m on m.id = l.meter_id
  left join subscription s on s.id = l.subscription_id
where l.environment_id = $1 and l.id > $2 and i.finalized_at is not null and l.derivation is not null and l.status = 'published'
  and not i.is_manually_edited and (m.updated_at <= i.created_at or exists (
    select from usage.meter_version v where v.env = ${own} and v.meter = m.number and v.since <= i.created_at))
order by l.id limit $3`;

const keyCountText = `select count(*) from usage.event_key where env = ${own}`;
// Keys outlive events that retention dropped, of which it noted how many they were.
const droppedText = `select coalesce(sum(event_count), 0) as n, coalesce(max(greatest_seq), 0) as seq from usage.dropped_partition where env = ${own}`;
const droppedUntilText = `
select to_char(max(dropped_until) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as until from usage.dropped_usage where env = ${own}`;
const keyDifferencesText = `
with stored as (select key, count(*) as n from usage.event where env in (${own}, -${own}) group by key),
dropped as (${droppedText}), lost as (
  select count(*) as n from usage.event_key k, dropped where k.env = ${own} and k.seq <= dropped.seq
    and not exists (select from stored where stored.key = k.key))
select key::text as object, case when e.n is null then 'acknowledged, but its event is missing'
  when k.seq is null then 'an event without its key' else format('stored %s times', e.n) end as problem
from (select key, seq from usage.event_key where env = ${own}) k full join stored e using (key)
where (e.n is distinct from 1 or k.seq is null) and not (e.n is null and k.seq <= (select seq from dropped))
union all
select 'dropped events', format('%s keys have no event, but %s events were dropped', lost.n, dropped.n) from lost, dropped
where lost.n <> dropped.n limit ${maxViolations}`;
const rollupCountText = `
select (select count(*) from usage.rollup where env = ${own}) + (select count(*) from usage.distinct_value where env = ${own}) as count`;
