import type { Database } from '../../db/orm.ts';
import { type Scope, workflowScope } from '../../db/scope.ts';
import { inSqlTransaction, type Sql } from '../../db/transaction.ts';
import { decimalOfScaled, quantityDecimals, scaledInteger } from '../quantity.ts';
import { type GivenMark, type KeptMark, markSubjects, meterCeilings } from './customer-mark.ts';
import type { EventContribution } from './event/batch-columns.ts';

/** A mark is written this often at most, and what was held back is written after as long. */
const holdMs = 1_000;
const spentDecimals = 2 * quantityDecimals;
const oneEvent = 10n ** BigInt(quantityDecimals);
const unlimited = 'Infinity';

/** What this process knows of the last mark of a subject that it wrote. */
interface LastMark {
  readonly at: number;
  readonly isHot: boolean;
  readonly rest: bigint | null;
  readonly dueAt: string;
  held: Held;
}

/** What is held back of a subject: its cost, and in how many batches it came. */
interface Held {
  readonly spent: bigint;
  readonly batches: number;
}

const nothing: Held = { spent: 0n, batches: 0 };

interface KeptEnvironment {
  readonly scope: Scope;
  readonly marks: Map<string, LastMark>;
  ceilings: ReadonlyMap<number, bigint | null>;
  ceilingsAt: number;
}

/** A usage of one batch by subject: the most it can cost, null where nothing bounds it. */
type Spending = ReadonlyMap<string, bigint | null>;

/** Marks that a transaction wrote, to be told of once it has committed. */
export interface WrittenMarks {
  readonly env: number;
  readonly at: number;
  readonly given: readonly GivenMark[];
  readonly kept: readonly KeptMark[];
  readonly taken: ReadonlyMap<string, Held>;
}

/**
 * Marks customers of usage, a customer at most once a second and process: a mark that nobody has looked at yet, and that leaves enough
 * to be spent, stands for the next ones too. What was held back is written with the next batch after that second, or by itself. A
 * process says beforehand in the mark that it may hold back, so that what it takes with it when it is killed is looked at all the same.
 * design: money-in-wallets finding 55
 */
export class MarkKeeper {
  readonly #database: Database;
  readonly #tell: (scope: Scope) => void;
  readonly #environments = new Map<number, KeptEnvironment>();
  #timer: NodeJS.Timeout | null = null;

  constructor(database: Database, tell: (scope: Scope) => void) {
    this.#database = database;
    this.#tell = tell;
  }

  /** Marks the subjects of a batch that need it, in its transaction. `subjects` has one for each event. */
  async mark(
    sql: Sql,
    scope: Scope,
    env: number,
    batch: { subjects: readonly string[]; contributions: readonly EventContribution[] },
  ): Promise<WrittenMarks> {
    const environment = this.#environment(env, scope);
    const now = performance.now();
    if (now - environment.ceilingsAt > holdMs) {
      environment.ceilings = scaledCeilings(await meterCeilings(sql, env));
      environment.ceilingsAt = now;
    }
    const taken = new Map<string, Held>();
    const given: GivenMark[] = [];
    for (const [subject, spent] of spendingOf(batch, environment.ceilings)) {
      const last = environment.marks.get(subject);
      const isRecent = last !== undefined && now - last.at < holdMs;
      if (last && isRecent && hold(last, spent)) continue;
      const held = last?.held ?? nothing;
      taken.set(subject, held);
      given.push(givenMark(subject, spent === null ? null : spent + held.spent, isRecent));
    }
    this.#arm();
    return { env, at: now, given, taken, kept: await markSubjects(sql, env, given) };
  }

  /** Hears that the transaction of marks has committed: those who look are told where there is something sooner than they know. */
  committed({ env, at, given, kept, taken }: WrittenMarks): void {
    const environment = this.#environments.get(env);
    if (!environment) return;
    const hot = new Set(given.filter(({ isHot }) => isHot).map(({ subject }) => subject));
    let isNew = false;
    for (const { subject, rest, dueAt } of kept) {
      const last = environment.marks.get(subject);
      isNew ||= last?.dueAt !== dueAt;
      environment.marks.set(subject, {
        at,
        isHot: hot.has(subject),
        rest: rest === unlimited ? null : (scaledInteger(rest, spentDecimals) ?? 0n),
        dueAt,
        held: without(last?.held ?? nothing, taken.get(subject) ?? nothing),
      });
    }
    if (isNew) this.#tell(environment.scope);
  }

  /** Writes what is held back, and forgets marks that are old. */
  async flush(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    for (const [env, { scope, marks }] of this.#environments) {
      const now = performance.now();
      const waiting = [...marks].filter(([, { held }]) => held.batches > 0);
      for (const [subject, { at, held }] of marks) {
        if (held.batches === 0 && now - at >= holdMs) marks.delete(subject);
      }
      if (marks.size === 0) this.#environments.delete(env);
      if (waiting.length === 0) continue;
      const given = waiting.map(([subject, { held }]) => givenMark(subject, held.spent, true));
      const taken = new Map(waiting.map(([subject, { held }]) => [subject, held]));
      await inSqlTransaction(this.#database, workflowScope(scope), (tx) => markSubjects(tx, env, given)).then(
        (kept) => this.committed({ env, at: now, given, kept, taken }),
        // An outage: what is held back waits for the next second.
        () => undefined,
      );
    }
    if (this.#environments.size > 0) this.#arm();
  }

  /** Writes what is held back and ends. */
  async close(): Promise<void> {
    await this.flush();
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #environment(env: number, scope: Scope): KeptEnvironment {
    const known = this.#environments.get(env);
    if (known) return known;
    const environment = { scope, marks: new Map(), ceilings: new Map(), ceilingsAt: Number.NEGATIVE_INFINITY };
    this.#environments.set(env, environment);
    return environment;
  }

  #arm(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      void this.flush();
    }, holdMs).unref();
  }
}

/** Holds usage back where the last mark of its subject stands for it; false where it has to be marked. */
function hold(last: LastMark, spent: bigint | null): boolean {
  if (!last.isHot || spent === null) return false;
  const held = { spent: last.held.spent + spent, batches: last.held.batches + 1 };
  if (last.rest !== null && held.spent >= last.rest) return false;
  last.held = held;
  return true;
}

function without(held: Held, taken: Held): Held {
  const batches = held.batches - taken.batches;
  return batches > 0 ? { spent: held.spent - taken.spent, batches } : nothing;
}

function givenMark(subject: string, spent: bigint | null, isHot: boolean): GivenMark {
  return { subject, spent: decimalOfScaled(spent ?? 0n, spentDecimals), isUnbounded: spent === null, isHot };
}

function spendingOf(
  { subjects, contributions }: { subjects: readonly string[]; contributions: readonly EventContribution[] },
  ceilings: ReadonlyMap<number, bigint | null>,
): Spending {
  const spending = new Map<string, bigint | null>(subjects.map((subject) => [subject, 0n]));
  for (const { ord, meter, quantity } of contributions) {
    const ceiling = ceilings.get(meter.number);
    const subject = subjects[ord]!;
    const before = spending.get(subject);
    if (ceiling === undefined || before === undefined || before === null) continue;
    const counted = meter.countsEvents ? oneEvent : quantity;
    if (counted > 0n) spending.set(subject, ceiling === null ? null : before + counted * ceiling);
  }
  return spending;
}

function scaledCeilings(ceilings: ReadonlyMap<number, string>): Map<number, bigint | null> {
  return new Map(
    [...ceilings].map(([meter, text]) => [
      meter,
      text === unlimited ? null : (scaledInteger(text, quantityDecimals) ?? 0n),
    ]),
  );
}
