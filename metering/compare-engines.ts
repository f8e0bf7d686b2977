import { refusalIn } from '../billing/refusal.ts';
import type { Database } from '../db/orm.ts';
import { type Scope, systemScope, workflowScope } from '../db/scope.ts';
import { inSqlTransaction, type Sql } from '../db/transaction.ts';
import type { UsageAnswer, UsageQuestion, UsageStore } from './usage-store.ts';

/** A place in the order of a comparison: an environment and, in it, the last customer's external id. */
export interface ComparedTo {
  readonly environmentId: string;
  readonly externalId: string;
}

export interface EngineDifference {
  readonly environmentId: string;
  readonly meterId: string;
  /** Null for everybody. */
  readonly externalCustomerId: string | null;
  readonly from: string;
  readonly to: string;
  readonly answers: readonly [string, string];
}

export interface Compared {
  readonly at: ComparedTo;
  readonly questions: number;
  readonly differences: readonly EngineDifference[];
}

export interface Comparison {
  readonly database: Database;
  /** The engine that is right, and the one that is examined. */
  readonly engines: readonly [UsageStore, UsageStore];
  /** The intervals that are asked about. */
  readonly intervals: readonly { readonly from: string; readonly to: string }[];
  /** Goes on after this place. */
  readonly after?: ComparedTo | undefined;
}

const customersAPage = 50;

/**
 * Asks two engines the same questions, each page of them as of one moment, and yields where their answers differ, as texts: every
 * meter of every environment, for everybody and for each external id. What one refuses the other has to refuse in the same words.
 */
export async function* compareEngines(comparison: Comparison): AsyncGenerator<Compared> {
  const { database, after } = comparison;
  const environments = await inSqlTransaction(database, systemScope, (tx) =>
    tx.rows<{ id: string; tenant_id: string; number: number }>(
      'select id, tenant_id, number from environment where id >= $1 order by id collate "C"',
      [after?.environmentId ?? ''],
    ),
  );
  for (const { id: environmentId, tenant_id: tenantId, number } of environments) {
    const scope = workflowScope({ tenantId, environmentId });
    let externalId = after?.environmentId === environmentId ? after.externalId : null;
    for (;;) {
      const page = await inSqlTransaction(database, scope, async (tx) => {
        // Both engines answer as of one moment.
        await tx.rows('set transaction isolation level repeatable read');
        return comparePage(tx, scope, comparison, number, externalId);
      });
      if (page === null) break;
      yield page;
      externalId = page.at.externalId;
    }
  }
}

async function comparePage(
  sql: Sql,
  scope: Scope,
  { engines, intervals }: Comparison,
  env: number,
  after: string | null,
): Promise<Compared | null> {
  const meters = await sql.rows<{ id: string }>('select id from meter where environment_id = $1 order by id', [
    scope.environmentId,
  ]);
  const customers = await sql.rows<{ external_id: string }>(
    `select external_id from usage.subject where env = $1 and holder is null and ($2::text is null or external_id collate "C" > $2)
     order by external_id collate "C" limit ${customersAPage}`,
    [env, after],
  );
  const last = customers.at(-1);
  if (!last || meters.length === 0) return null;
  const asked = [...(after === null ? [null] : []), ...customers.map(({ external_id }) => external_id)];
  const questions = asked.flatMap((externalId) =>
    meters.flatMap(({ id }) => intervals.map((interval) => ({ externalId, ...question(id, externalId, interval) }))),
  );
  const answers: Map<string, string>[] = [];
  for (const engine of engines) answers.push(await answersOf(engine, sql, scope, questions));
  const differences = questions.flatMap(({ key, meterId, externalId, from, to }): EngineDifference[] => {
    const [right = '', examined = ''] = answers.map((of) => of.get(key) ?? 'no answer');
    if (right === examined) return [];
    const { environmentId } = scope;
    return [{ environmentId, meterId, externalCustomerId: externalId, from, to, answers: [right, examined] }];
  });
  return {
    at: { environmentId: scope.environmentId, externalId: last.external_id },
    questions: questions.length,
    differences,
  };
}

function question(meterId: string, externalId: string | null, { from, to }: { from: string; to: string }) {
  const key = JSON.stringify([meterId, externalId, from]);
  return { key, meterId, from, to, ...(externalId === null ? {} : { externalCustomerIds: [externalId] }) };
}

/** The answers as texts; where one is refused they are asked one by one, and its words are the answer. */
async function answersOf(
  engine: UsageStore,
  sql: Sql,
  scope: Scope,
  questions: readonly UsageQuestion[],
): Promise<Map<string, string>> {
  try {
    const answers = await engine.usage(sql, scope, questions);
    return new Map([...answers].map(([key, answer]) => [key, textOf(answer)]));
  } catch (error) {
    if (!refusalIn(error)) throw error;
    if (questions.length === 1) return new Map([[questions[0]!.key, (error as Error).message]]);
    const parts = [];
    for (const each of questions) parts.push(...(await answersOf(engine, sql, scope, [each])));
    return new Map(parts);
  }
}

function textOf({ value, eventCount, buckets }: UsageAnswer): string {
  const rows =
    buckets === null ? '' : ` ${buckets.map(({ start, group, value: of }) => `${start} ${group}=${of}`).join(' ')}`;
  return `${value} of ${eventCount} events${rows}`;
}
