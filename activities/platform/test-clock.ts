import { Context } from '@temporalio/activity';
import { type Client, WithStartWorkflowOperation } from '@temporalio/client';
import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/common';
import type { Database } from '../../db/orm.ts';
import { type Scope, workflowScope } from '../../db/scope.ts';
import { inSqlTransaction, type SqlTransaction } from '../../db/transaction.ts';
import { kindsThat, type LifecycleKind, lifecycleKinds } from '../../lifecycles/kinds.ts';
import { firstDated, isWatched, markCustomersOfClock } from '../../metering/postgres/clock-mark.ts';
import { dueEvaluators, takeUpDated } from '../../metering/postgres/due-mark.ts';
import { type DueObject, nextDue } from '../../services/lifecycle/due.ts';
import { beginAdvance, endAdvance, moveClock, readTestClock } from '../../services/platform/test-clock.ts';
import { rowChanged, settle } from '../../workflows/lifecycle.messages.ts';
import type { TestClockStart } from '../../workflows/platform/test-clock.messages.ts';
import { lifecycleStartOptions } from '../../workflows/start.messages.ts';
import { withHeartbeat } from '../heartbeat.ts';

/** Looks at usage of customers whose time moves. */
export interface UsageOnClocks {
  readonly names: readonly string[];
  /** Has an evaluator of these look at customers of a clock it is due to look at. Answers how many it looked at. */
  look(scope: Scope, evaluator: string, time: { clock: string }): Promise<number>;
  /** Tells what watches usage in real time that customers were marked. */
  wake(scope: Scope): Promise<void>;
}

export interface TestClockActivityDependencies {
  database: Database;
  temporal: Client;
  taskQueue: string;
  /** For usage of its customers, which is looked at as their time goes on. */
  usage: UsageOnClocks;
}

/** Members that act at one instant are told at once, up to this many at a time, where their kind shares the transactions of its steps. */
const maxSettling = 100;
const combinedKinds: ReadonlySet<string> = new Set(kindsThat('sharesSteps'));
/**
 * Members of other kinds act one by one, up to this many at a time: enough to keep cores busy. The tasks of more would wait for one another
 * longer than a task may take, and each late task is done again.
 */
const maxSettlingAlone = 24;
/** An object that stays due after so many rounds of its instant does not do what its agenda says: a bug, shown to a person. */
const maxRounds = 25;
/** Rounds after which a workflow is told to read its row again, which may have changed without a word to it. */
const patientRounds = 2;

export type TestClockActivities = ReturnType<typeof createTestClockActivities>;

/** How a test clock moves. design: architecture §4 */
export function createTestClockActivities(dependencies: TestClockActivityDependencies) {
  const { database } = dependencies;
  return {
    beginAdvance: (input: TestClockStart & { to: string }) =>
      inSqlTransaction(database, workflowScope(input), (tx) =>
        beginAdvance(tx, tx.scope, { id: input.testClockId, to: input.to }),
      ),

    /** The target of an advance that was under way when the workflow started. */
    resumeAdvance: (input: TestClockStart) =>
      inSqlTransaction(database, workflowScope(input), async (tx) => {
        const clock = await readTestClock(tx, tx.scope, input.testClockId);
        return { frozenTime: clock.frozenTime, targetTime: clock.targetTime };
      }),

    /**
     * Walks from due instant to due instant until the target: shows the instant on the clock, has every object settle that
     * is due then, in parallel, and looks again, because what they did may have made more due. Those that share nothing with
     * others go on by themselves for about a day. Killed anywhere it goes on.
     */
    async advanceClock(input: TestClockStart): Promise<void> {
      const scope = workflowScope(input);
      const context = Context.current();
      // A worker that shuts down does not wait for the target: the next one goes on from the row.
      await withHeartbeat(() =>
        Promise.race([walk(dependencies, scope, input, context.cancellationSignal), leaveWhenCancelled(context)]),
      );
    },
  };
}

async function leaveWhenCancelled(context: Context): Promise<never> {
  await context.cancelled.catch(() => undefined);
  throw ApplicationFailure.retryable('the worker shuts down; another goes on', 'worker_shutdown');
}

async function walk(
  dependencies: TestClockActivityDependencies,
  scope: Scope,
  input: TestClockStart,
  cancelled: AbortSignal,
): Promise<void> {
  const { database, usage } = dependencies;
  const read = () => inSqlTransaction(database, scope, (tx) => readTestClock(tx, scope, input.testClockId));
  const { targetTime } = await read();
  if (targetTime === null) return;
  let previous = '';
  let rounds = 0;
  let looksHere = 0;
  while (!cancelled.aborted) {
    const names = looksHere < maxRounds ? usage.names : [];
    const { due, evaluators } = await inSqlTransaction(database, scope, (tx) =>
      nextStep(tx, input.testClockId, targetTime, names),
    );
    looksHere = evaluators.length > 0 ? looksHere + 1 : 0;
    if (evaluators.length > 0) await lookAtUsage(usage, scope, { clock: input.testClockId }, evaluators);
    if (due === null) continue;
    const [first] = due;
    if (!first) {
      const isMarked = await inSqlTransaction(database, scope, async (tx) => {
        await endAdvance(tx, scope, input.testClockId);
        return markCustomersOfClock(tx, scope, input.testClockId);
      });
      if (isMarked) await usage.wake(scope);
      return;
    }
    const instant = due.map((object) => `${object.objectId}@${object.dueAt}`).join(' ');
    rounds = instant === previous ? rounds + 1 : 0;
    previous = instant;
    if (rounds > maxRounds)
      throw new Error(`still due at ${first.dueAt} after ${maxRounds} rounds: ${instant.slice(0, 300)}`);
    const { frozenTime } = await read();
    if (rounds > 0 && rounds % patientRounds === 0) await haveRead(dependencies.temporal, due, frozenTime);
    await settleAll(dependencies, scope, input.testClockId, due, frozenTime);
  }
}

/**
 * The objects that act next; null where usage comes before them. What was marked until now is looked at in this present, by the
 * evaluators answered, before the clock goes on; usage that begins to count before an object acts is taken up at its own instant.
 */
async function nextStep(
  tx: SqlTransaction,
  clock: string,
  targetTime: string,
  names: readonly string[],
): Promise<{ due: DueObject[] | null; evaluators: string[] }> {
  const { scope } = tx;
  const watched = await isWatched(tx, scope);
  const evaluators = watched ? await dueEvaluators(tx, scope, names, { clock }) : [];
  if (evaluators.length > 0) return { due: null, evaluators };
  const due = await nextDue(tx, scope, clock, targetTime);
  const [first] = due;
  const datedAt = watched ? await firstDated(tx, scope, clock, first?.dueAt ?? targetTime) : null;
  if (datedAt !== null) await takeUpDated(tx, scope, { clock }, datedAt);
  const at = datedAt ?? first?.dueAt;
  if (at !== undefined) await moveClock(tx, scope, clock, at);
  return { due: datedAt === null ? due : null, evaluators };
}

/** Has evaluators look at all that is marked on a clock. */
async function lookAtUsage(
  usage: UsageOnClocks,
  scope: Scope,
  time: { clock: string },
  evaluators: readonly string[],
): Promise<void> {
  for (const evaluator of evaluators) {
    while ((await usage.look(scope, evaluator, time)) > 0);
  }
}

/** One that cannot be told now, as while its own task waits to be tried again, keeps none of the others from what is due. */
async function settleAll(
  dependencies: TestClockActivityDependencies,
  scope: Scope,
  testClockId: string,
  objects: readonly DueObject[],
  frozenTime: string,
): Promise<void> {
  const failures: unknown[] = [];
  const settleSome = async (crowd: readonly DueObject[], width: number) => {
    const waiting = [...crowd];
    const workers = Array.from({ length: Math.min(width, waiting.length) }, async () => {
      for (let object = waiting.shift(); object; object = waiting.shift()) {
        await settleObject(dependencies, scope, testClockId, object, frozenTime).catch((error: unknown) =>
          failures.push(error),
        );
      }
    });
    await Promise.all(workers);
  };
  const { combined = [], alone = [] } = Object.groupBy(objects, ({ objectType }) =>
    combinedKinds.has(objectType) ? 'combined' : 'alone',
  );
  await Promise.all([settleSome(combined, maxSettling), settleSome(alone, maxSettlingAlone)]);
  if (failures.length > 0) throw failures[0];
}

/** Has workflows that run read their rows again. */
async function haveRead(temporal: Client, objects: readonly DueObject[], frozenTime: string): Promise<void> {
  for (const { objectType, objectId } of objects) {
    const { workflowId } = lifecycleKinds[objectType as LifecycleKind];
    const told = temporal.workflow.getHandle(workflowId(objectId)).signal(rowChanged, frozenTime);
    await told.catch((error: unknown) => {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    });
  }
}

/** Has one object do what is due, as far as it may go, however many runs of its workflow that takes. */
async function settleObject(
  { temporal, taskQueue }: TestClockActivityDependencies,
  scope: Scope,
  testClockId: string,
  object: DueObject,
  frozenTime: string,
): Promise<void> {
  const to = object.dueAt > frozenTime ? object.dueAt : frozenTime;
  const instants = object.through > to ? { to, through: object.through } : { to };
  const kind = object.objectType as LifecycleKind;
  const start = {
    tenantId: scope.tenantId,
    environmentId: scope.environmentId,
    objectId: object.objectId,
    customerId: object.customerId,
    testClockId,
    clockTime: to,
    creating: false,
  };
  const { workflowType, workflowId } = lifecycleKinds[kind];
  const tell = async () =>
    temporal.workflow.getHandle(workflowId(object.objectId)).executeUpdate(settle, { args: [instants] });
  const startAndTell = async () => {
    const options = lifecycleStartOptions(kind, start, taskQueue);
    const startWorkflowOperation = new WithStartWorkflowOperation(workflowType, options);
    return temporal.workflow.executeUpdateWithStart(settle, { startWorkflowOperation, args: [instants] });
  };
  for (let again = true; again; ) {
    // It is running but for crashes, and an Update alone costs the server half.
    ({ again } = await tell().catch((error: unknown) => {
      if (error instanceof WorkflowNotFoundError) return startAndTell();
      throw error;
    }));
  }
}
