import { z } from 'zod';
import type { EnvironmentClone } from '../../db/entities/platform/environment-clone.ts';
import { badField } from '../../db/rows/record.ts';
import type { CloneTarget } from '../../services/catalogue/clone/environment-clone.ts';
import { environmentCloneWorkflowId } from '../../workflows/platform/environment-clone.messages.ts';
import { timestampOutput } from '../scalars.schema.ts';

export const cloneEnvironmentBody = z
  .object({
    target_environment_id: z.string().min(1).max(255).nullish().describe('Where to; or name and type for a new one.'),
    name: z.string().trim().min(1).max(255).nullish(),
    type: z.enum(['development', 'production']).nullish(),
  })
  .meta({
    id: 'CloneEnvironmentRequest',
    examples: [{ target_environment_id: 'env_01M809DK3DQN84F8VD99NVR9Q4' }, { name: 'Production', type: 'production' }],
  });

export const latestCloneQuery = z.object({ target_environment_id: z.string().min(1).max(255).optional() });

const counts = z.object({
  cloned: z.int(),
  /** Its lookup key exists in the target. */
  skipped: z.int(),
  failed: z.int(),
});

/** The latest clone of an environment: ours, because its result is known to the workflow only after it has ended. */
export const environmentClone = z
  .object({
    id: z.string(),
    workflow_id: z.string(),
    source_environment_id: z.string(),
    target_environment_id: z.string(),
    clone_status: z.enum(['running', 'completed', 'interrupted']),
    features: counts,
    plans: counts,
    /** The first thousand of those that failed; the next clone tries them again. */
    errors: z.array(z.object({ entity_type: z.enum(['feature', 'plan']), entity_id: z.string(), message: z.string() })),
    started_at: timestampOutput(),
    finished_at: timestampOutput().nullable(),
  })
  .meta({ id: 'EnvironmentClone' });

/**
 * Where a request wants the catalogue. Throws `validation_error` for neither form, for half of one, and for both at once: a caller
 * who names an environment and a new one's name would be surprised by either choice. spec: platform §9
 */
export function cloneTargetOf(
  body: z.output<typeof cloneEnvironmentBody>,
  newEnvironmentId: () => string,
): CloneTarget {
  const { target_environment_id: targetEnvironmentId, name, type } = body;
  if (targetEnvironmentId) {
    const given = name ? 'name' : type ? 'type' : null;
    if (given) throw badField(given, 'is of a new environment; leave it out with target_environment_id');
    return { targetEnvironmentId };
  }
  if (!name && !type) {
    throw badField('target_environment_id', 'is required, or name and type for a new environment');
  }
  if (!name) throw badField('name', 'is required with type, or send target_environment_id');
  if (!type) throw badField('type', 'is required with name: development or production');
  return { id: newEnvironmentId(), name, type };
}

export function viewEnvironmentClone(row: EnvironmentClone): z.output<typeof environmentClone> {
  return {
    id: row.id,
    workflow_id: environmentCloneWorkflowId(row),
    source_environment_id: row.sourceEnvironmentId,
    target_environment_id: row.environmentId,
    clone_status: row.cloneStatus as z.output<typeof environmentClone>['clone_status'],
    features: { cloned: row.featuresCloned, skipped: row.featuresSkipped, failed: row.featuresFailed },
    plans: { cloned: row.plansCloned, skipped: row.plansSkipped, failed: row.plansFailed },
    errors: row.errors,
    started_at: row.createdAt,
    finished_at: row.finishedAt ?? null,
  };
}
