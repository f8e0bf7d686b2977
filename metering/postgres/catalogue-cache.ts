import type { Scope } from '../../db/scope.ts';
import type { Sql, SqlTransaction } from '../../db/transaction.ts';
import { type CompiledMeter, compileMeter, type MeterDefinition } from '../meter.ts';
import { rememberEnvironment } from './environment-number.ts';

/** What a writer knows of one environment: valid while `usage.catalogue_state` shows the same version. */
export interface Catalogue {
  readonly env: number;
  readonly version: string;
  readonly metersByEventName: ReadonlyMap<string, readonly CompiledMeter[]>;
  /** Numbers of the archived ones among them. */
  readonly archivedMeters: ReadonlySet<number>;
  /** Events that no meter counts are kept with the reason and told. spec: catalogue-and-metering §6.6 */
  readonly reportsRejected: boolean;
  /** Customers of events are marked, for whoever watches their usage. */
  readonly watchesUsage: boolean;
  /** Customers of the environment may live by test clocks. */
  readonly hasTestClocks: boolean;
  /** External id → number of its live subject. Grows; a holder that lets an id go raises the version. */
  readonly subjects: Map<string, string>;
  readonly eventNames: Map<string, number>;
}

const maxCachedTexts = 100_000;
const maxCachedEnvironments = 1_000;

/**
 * Meters and short keys of environments, cached in the process and never stale: a writer takes a shared lock of its
 * environment and then reads the version; whoever changes a meter or gives an external id up waits for the lock
 * exclusively, raises the version and holds the lock until commit (triggers of migration 02). So a meter's roll-ups are
 * built from every event written before it, and every event after it finds the meter. One round trip a batch.
 */
export class CatalogueCache {
  readonly #known = new Map<string, Catalogue>();

  /** The catalogue as of now; no change can commit until the transaction ends. */
  async locked(tx: Sql | SqlTransaction, scope: Scope): Promise<Catalogue> {
    const env = this.#known.get(scope.environmentId)?.env ?? (await numberOf(tx, scope));
    const version = await lockedVersion(tx, env);
    const cached = this.#known.get(scope.environmentId);
    if (cached && cached.version === version) return cached;
    const loaded: Catalogue = {
      env,
      version,
      ...(await loadMeters(tx, scope)),
      reportsRejected: await reportsRejected(tx, scope),
      ...(await watching(tx, scope, env)),
      subjects: new Map(),
      eventNames: cached?.eventNames ?? new Map(),
    };
    if (this.#known.size >= maxCachedEnvironments) this.#known.clear();
    this.#known.set(scope.environmentId, loaded);
    return loaded;
  }

  /** Keeps what a committed transaction resolved. */
  remember(catalogue: Catalogue, subjects: ReadonlyMap<string, string>, eventNames: ReadonlyMap<string, number>): void {
    if (catalogue.subjects.size > maxCachedTexts) catalogue.subjects.clear();
    if (catalogue.eventNames.size > maxCachedTexts) catalogue.eventNames.clear();
    for (const [text, number] of subjects) catalogue.subjects.set(text, number);
    for (const [text, number] of eventNames) catalogue.eventNames.set(text, number);
  }
}

async function numberOf(tx: Sql, scope: Scope): Promise<number> {
  const [row] = await tx.rows<{ number: number }>('select number from environment where id = $1', [
    scope.environmentId,
  ]);
  if (!row) throw new Error(`no environment ${scope.environmentId}`);
  rememberEnvironment(scope.environmentId, row.number);
  return row.number;
}

/** The second statement's snapshot is taken when the lock is held; on a connection of our own both are one round trip. */
async function lockedVersion(tx: Sql | SqlTransaction, env: number): Promise<string> {
  const number = Math.trunc(env);
  const lock = `select pg_advisory_xact_lock_shared(7101, ${number})`;
  const read = `select version::text from usage.catalogue_state where env = ${number}`;
  if (!('client' in tx)) {
    await tx.rows(lock);
    return (await tx.rows<{ version: string }>(read))[0]?.version ?? '0';
  }
  const results = (await tx.client.query(`${lock}; ${read}`)) as unknown as { rows: { version: string }[] }[];
  return results[1]?.rows[0]?.version ?? '0';
}

async function loadMeters(tx: Sql, scope: Scope) {
  // Archived meters go on counting: line items that use them keep metering. spec: catalogue-and-metering §11
  const rows = await tx.rows<MeterDefinition & { status: string }>(metersText, [scope.environmentId]);
  const metersByEventName = new Map<string, CompiledMeter[]>();
  for (const row of rows) {
    const compiled = metersByEventName.get(row.event_name) ?? [];
    compiled.push(compileMeter(row));
    metersByEventName.set(row.event_name, compiled);
  }
  const archivedMeters = new Set(rows.filter((row) => row.status !== 'published').map((row) => row.number));
  return { metersByEventName, archivedMeters };
}

// A version that is being built counts beside the one in force; that of a new meter is in force.
const metersText = `
  select m.number, m.version, m.event_name, m.aggregation, m.filters, m.status from meter m where m.environment_id = $1
  union all
  select m.number, b.version, m.event_name, m.aggregation, b.filters, m.status
  from meter m join environment e on e.id = m.environment_id join usage.meter_build b on b.env = e.number and b.meter = m.number
  where m.environment_id = $1 and not b.is_first order by number, version`;

async function reportsRejected(tx: Sql, scope: Scope): Promise<boolean> {
  const rows = await tx.rows(
    `select 1 from setting where environment_id = $1 and key = 'event_rejection_config' and status = 'published'
       and value -> 'enabled' = 'true'`,
    [scope.environmentId],
  );
  return rows.length > 0;
}

async function watching(tx: Sql, scope: Scope, env: number) {
  const [row] = await tx.rows<{ watches: boolean; clocks: boolean }>(
    `select exists (select from usage.watched_environment where env = $1) as watches,
       exists (select from test_clock where environment_id = $2) as clocks`,
    [env, scope.environmentId],
  );
  return { watchesUsage: row?.watches ?? false, hasTestClocks: row?.clocks ?? false };
}
