import type { Client, WorkflowHandle } from '@temporalio/client';
import type { Finding, Violation } from '../../db/check/invariant.ts';
import type { Database } from '../../db/orm.ts';
import { instantText } from '../../db/rows/columns.ts';
import { systemScope } from '../../db/scope.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { isLifecycleKind, type LifecycleKind, lifecycleKinds } from '../../lifecycles/kinds.ts';
import { type LiveObject, liveObjects } from '../../services/lifecycle/live-object.ts';
import { waitingFor } from '../../workflows/lifecycle.messages.ts';

const pageSize = 200;
const maxAsking = 8;
const queryTimeoutMs = 5_000;

/**
 * I20: asks the workflow of each live object what it waits for and compares with its row and agenda. Of a workflow that is
 * working both may differ for a moment, so a difference is looked at again until `patienceMs` has passed. At most
 * `maxObjects` are asked, in the order of their ids; needs a running worker.
 */
export async function checkWorkflows(
  database: Database,
  temporal: Client,
  options: { maxObjects?: number; patienceMs?: number } = {},
): Promise<Finding> {
  const { maxObjects = 2_000, patienceMs = 10_000 } = options;
  const objects = (await someLiveObjects(database, maxObjects)).filter(hasLifecycle);
  const until = performance.now() + patienceMs;
  let differing = objects;
  let violations = await differences(database, temporal, differing);
  while (violations.size > 0 && performance.now() < until) {
    differing = differing.filter((object) => violations.has(object.objectId));
    violations = await differences(database, temporal, differing);
  }
  return {
    id: 'I20',
    rule: 'a workflow at rest agrees with its row',
    examined: objects.length,
    violations: [...violations.values()],
  };
}

type LiveLifecycle = LiveObject & { objectType: LifecycleKind };

function hasLifecycle(object: LiveObject): object is LiveLifecycle {
  return isLifecycleKind(object.objectType);
}

async function someLiveObjects(database: Database, maxObjects: number): Promise<LiveObject[]> {
  const objects: LiveObject[] = [];
  for (let after: LiveObject | null = null; objects.length < maxObjects; ) {
    const page: LiveObject[] = await inSqlTransaction(database, systemScope, (tx) => liveObjects(tx, after, pageSize));
    const last = page.at(-1);
    if (!last) break;
    objects.push(...page);
    after = last;
  }
  return objects.slice(0, maxObjects);
}

async function differences(
  database: Database,
  temporal: Client,
  objects: readonly LiveLifecycle[],
): Promise<Map<string, Violation>> {
  const found = new Map<string, Violation>();
  const waiting = [...objects];
  const ask = async () => {
    for (let object = waiting.shift(); object; object = waiting.shift()) {
      const problem = await difference(database, temporal, object);
      if (problem) found.set(object.objectId, { object: object.objectId, problem });
    }
  };
  await Promise.all(Array.from({ length: maxAsking }, ask));
  return found;
}

async function difference(database: Database, temporal: Client, object: LiveLifecycle): Promise<string | null> {
  const known = await asked(temporal, object);
  const stored = await standing(database, object);
  if (stored === null) return null;
  if (typeof known === 'string') return known;
  const agrees = lifecycleKinds[object.objectType].sleeps ? isAwakeInTime(known, stored) : known.text === stored.text;
  return agrees ? null : `the workflow has ${known.text}, the row ${stored.text}`;
}

interface Standing {
  text: string;
  blockedOn: string | null;
  /** First instant it waits for; null where it waits for none. */
  firstAt: string | null;
}

/** A lifecycle that sleeps is not told of entries that go: it finds out at their instant. It may wake too early, and never too late. */
function isAwakeInTime(known: Standing, stored: Standing): boolean {
  if (known.blockedOn !== stored.blockedOn) return false;
  return stored.firstAt === null || (known.firstAt !== null && known.firstAt <= stored.firstAt);
}

/** What the workflow says, or why it says nothing. */
async function asked(temporal: Client, { objectType, objectId }: LiveLifecycle): Promise<Standing | string> {
  const { workflowId, statusColumn, sleeps } = lifecycleKinds[objectType];
  const handle = temporal.workflow.getHandle(workflowId(objectId));
  try {
    const answer = await temporal.connection.withDeadline(Date.now() + queryTimeoutMs, () => handle.query(waitingFor));
    const { status } = await handle.describe();
    if (status.name !== 'RUNNING') return `its workflow is ${status.name}`;
    return describe(statusColumn === null ? '' : answer.status, answer.blockedOn, answer.agenda);
  } catch (error) {
    const delayedUntil = sleeps ? await beginningOf(handle) : null;
    if (delayedUntil !== null) return beginsAt(delayedUntil);
    return `its workflow does not answer: ${(error as Error).message}`;
  }
}

/** What the rows say; null when the object needs no workflow any more. */
async function standing(database: Database, { objectType, objectId }: LiveLifecycle): Promise<Standing | null> {
  const rows = await inSqlTransaction(database, systemScope, (tx) =>
    tx.rows<StandingRow>(standingText(objectType), [objectType, objectId]),
  );
  const [row] = rows;
  if (!row || (row.agenda.length === 0 && (row.status === '' || row.status === 'cancelled'))) return null;
  const agenda = row.agenda.map((item) => ({ ...item, at: instantText(item.at) }));
  return describe(row.status, row.blocked_on, agenda);
}

function describe(status: string, blockedOn: string | null, agenda: { at: string; kind: string; ref: string }[]) {
  const items = agenda.map(({ at, kind, ref }) => `${at} ${kind}${ref ? ` ${ref}` : ''}`).sort();
  return {
    text: [status, blockedOn ? `parked at ${blockedOn}` : '', `[${items.join(', ')}]`].filter(Boolean).join(' '),
    blockedOn,
    firstAt: agenda.map(({ at }) => at).sort()[0] ?? null,
  };
}

/** Instant at which a workflow is first given to a worker, when that is still to come; such a one answers nothing yet. */
async function beginningOf(handle: WorkflowHandle): Promise<string | null> {
  const run = await handle.describe().catch(() => null);
  const isDelayed = run?.status.name === 'RUNNING' && (run.executionTime ?? run.startTime) > new Date();
  return isDelayed ? run.executionTime!.toISOString() : null;
}

/** Longest that `TIMER_SPREAD_SECONDS` delays a timer. */
const longestSpreadMs = 3_600_000;

function beginsAt(at: string): Standing {
  const firstAt = new Date(Date.parse(at) - longestSpreadMs).toISOString();
  return { text: `nothing until ${at}`, blockedOn: null, firstAt };
}

interface StandingRow {
  status: string;
  blocked_on: string | null;
  agenda: { at: string; kind: string; ref: string }[];
  [column: string]: unknown;
}

function standingText(kind: LifecycleKind): string {
  const { entity, statusColumn } = lifecycleKinds[kind];
  const status = statusColumn === null ? 'null' : `(select ${statusColumn} from ${entity} where id = $2)`;
  return `
select coalesce(${status}, '') as status,
  (select step from parked_object where object_type = $1 and object_id = $2) as blocked_on,
  coalesce((select jsonb_agg(jsonb_build_object('at', due_at::text, 'kind', kind, 'ref', ref))
    from agenda_entry where object_type = $1 and object_id = $2), '[]') as agenda`;
}
