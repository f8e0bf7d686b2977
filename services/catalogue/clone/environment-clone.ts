import { LockMode } from '@mikro-orm/core';
import { refuse } from '../../../billing/refusal.ts';
import { realNow } from '../../../db/clock.ts';
import { Environment } from '../../../db/entities/platform/environment.ts';
import { type CloneError, EnvironmentClone } from '../../../db/entities/platform/environment-clone.ts';
import { badField, missing, newRecord, touch } from '../../../db/rows/record.ts';
import type { Sql, Transaction } from '../../../db/transaction.ts';
import { writeAudit } from '../../platform/audit.ts';
import { createEnvironment, type NewEnvironment } from '../../platform/environment.ts';

/** So many of what failed are told one by one; all are counted. */
const maxErrorsKept = 1_000;

/** Where a catalogue goes: an environment that exists, or one to be made. */
export type CloneTarget = { targetEnvironmentId: string } | (NewEnvironment & { id: string });

/**
 * The environment a clone goes into, made if it is asked for. Throws `validation_error` when it is the source itself or
 * `tenant_config` allows no more of its type, `not_found` for an environment that the tenant does not have, or no longer.
 * spec: platform §9
 */
export async function cloneTarget(tx: Transaction, sourceId: string, target: CloneTarget): Promise<Environment> {
  if ('targetEnvironmentId' in target && target.targetEnvironmentId === sourceId) {
    throw badField('target_environment_id', 'is the environment itself; name another one of this account');
  }
  await publishedEnvironment(tx, sourceId, 'id');
  if ('id' in target) return createEnvironment(tx, target);
  return publishedEnvironment(tx, target.targetEnvironmentId, 'target_environment_id');
}

async function publishedEnvironment(tx: Transaction, id: string, field: string): Promise<Environment> {
  const where = { id, tenantId: tx.scope.tenantId, status: 'published' };
  const environment = await tx.em.findOne(Environment, where);
  if (!environment) throw missing('environment', id, field);
  return environment;
}

/**
 * Begins a run into the environment of the scope, or finds it when it began before. A run of the pair that has not ended, of
 * which the workflow is lost, is marked as interrupted: this one skips what it copied. spec: platform §9
 */
export async function beginClone(
  tx: Transaction,
  { cloneId, sourceEnvironmentId }: { cloneId: string; sourceEnvironmentId: string },
): Promise<EnvironmentClone> {
  const known = await findClone(tx, cloneId);
  if (known) return known;
  const { environmentId } = tx.scope;
  const lost = await tx.em.find(EnvironmentClone, { environmentId, sourceEnvironmentId, cloneStatus: 'running' });
  for (const run of lost) await endClone(tx, run, 'interrupted');
  const run = tx.em.create(EnvironmentClone, {
    ...newRecord(tx, 'env_clone', cloneId),
    sourceEnvironmentId,
    errors: [],
  });
  await tx.em.flush();
  await audit(tx, run, 'started');
  return run;
}

/** Locks a run, so that a worker that was taken for dead and its successor do not both copy the same item. */
export async function lockClone(tx: Transaction, cloneId: string): Promise<EnvironmentClone> {
  const where = { id: cloneId, environmentId: tx.scope.environmentId };
  const run = await tx.em.findOne(EnvironmentClone, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!run) throw missing('environment clone', cloneId);
  return run;
}

/** A run of the tenant, or null when it never began. */
export function findClone(tx: Transaction, cloneId: string): Promise<EnvironmentClone | null> {
  return tx.em.findOne(EnvironmentClone, { id: cloneId, tenantId: tx.scope.tenantId });
}

/** Of which environment a run copies, and in whose name: what its workflow is begun again with. */
export async function begunClone(sql: Sql, cloneId: string): Promise<{ sourceEnvironmentId: string; actor: string }> {
  const [run] = await sql.rows<{ sourceEnvironmentId: string; actor: string }>(
    'select source_environment_id as "sourceEnvironmentId", created_by as actor from environment_clone where id = $1',
    [cloneId],
  );
  if (!run) throw missing('environment clone', cloneId);
  return run;
}

/** The latest run out of an environment, into a given one or any. Throws `not_found`. */
export async function latestClone(
  tx: Transaction,
  sourceEnvironmentId: string,
  targetEnvironmentId: string | undefined,
): Promise<EnvironmentClone> {
  await publishedEnvironment(tx, sourceEnvironmentId, 'id');
  const { tenantId } = tx.scope;
  const into = targetEnvironmentId ? { environmentId: targetEnvironmentId } : {};
  const run = await tx.em.findOne(
    EnvironmentClone,
    { tenantId, sourceEnvironmentId, ...into },
    { orderBy: { createdAt: 'desc', id: 'desc' } },
  );
  if (run) return run;
  const where = targetEnvironmentId ? `into ${targetEnvironmentId}` : 'into another';
  throw refuse(
    'not_found',
    `environment ${sourceEnvironmentId} was never cloned ${where}; POST on this path begins, and its run is shown here once a worker has taken it up`,
  );
}

/** What became of one feature or plan. */
export type CloneOutcome = { outcome: 'cloned' | 'skipped' } | { outcome: 'failed'; message: string };

/** Counts the next item of a locked run, in the transaction that copies it: so each is copied and counted once, whatever dies when. */
export async function noteItem(
  tx: Transaction,
  run: EnvironmentClone,
  itemId: string,
  result: CloneOutcome,
): Promise<void> {
  const isPlan = run.entityType === 'plan';
  if (result.outcome === 'cloned') run[isPlan ? 'plansCloned' : 'featuresCloned'] += 1;
  if (result.outcome === 'skipped') run[isPlan ? 'plansSkipped' : 'featuresSkipped'] += 1;
  if (result.outcome === 'failed') {
    run[isPlan ? 'plansFailed' : 'featuresFailed'] += 1;
    const error: CloneError = {
      entity_type: isPlan ? 'plan' : 'feature',
      entity_id: itemId,
      message: result.message,
    };
    if (run.errors.length < maxErrorsKept) run.errors = [...run.errors, error];
  }
  run.afterId = itemId;
  touch(tx, run);
  await tx.em.flush();
}

/** After the last feature of a locked run come its plans; after the last plan it is completed. spec: platform §9 */
export async function passOn(tx: Transaction, run: EnvironmentClone): Promise<void> {
  if (run.entityType === 'plan') return endClone(tx, run, 'completed');
  run.entityType = 'plan';
  run.afterId = '';
  touch(tx, run);
  await tx.em.flush();
}

async function endClone(tx: Transaction, run: EnvironmentClone, outcome: 'completed' | 'interrupted'): Promise<void> {
  run.cloneStatus = outcome;
  touch(tx, run);
  run.finishedAt = run.updatedAt;
  await tx.em.flush();
  await audit(tx, run, outcome);
}

/** The audit row of a run, in the environment that changes. spec: platform §23 Audit */
function audit(tx: Transaction, run: EnvironmentClone, action: string): Promise<void> {
  const detail = {
    source_environment_id: run.sourceEnvironmentId,
    features: { cloned: run.featuresCloned, skipped: run.featuresSkipped, failed: run.featuresFailed },
    plans: { cloned: run.plansCloned, skipped: run.plansSkipped, failed: run.plansFailed },
  };
  return writeAudit(tx, tx.scope, [
    { objectType: 'environment_clone', objectId: run.id, action, occurredAt: realNow(), detail },
  ]);
}
