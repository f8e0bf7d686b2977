import { defineEntity, p } from '@mikro-orm/core';
import { instant, recordColumns } from '../../rows/columns.ts';

/** A feature or plan that a clone could not copy, and why. */
export interface CloneError {
  entity_type: 'feature' | 'plan';
  entity_id: string;
  message: string;
}

/**
 * One run that copies the catalogue of an environment into another, which is the one it stands in: how far it is and what it
 * did. `afterId` is the last feature, later the last plan, it looked at, in the order of their ids, so that a killed run goes on
 * behind it. The rows of a tenant are visible from all its environments. spec: platform §9
 */
const schema = defineEntity({
  name: 'EnvironmentClone',
  tableName: 'environment_clone',
  properties: {
    ...recordColumns,
    sourceEnvironmentId: p.text(),
    /** `running`, `completed`, or `interrupted` when another run of the pair began without this one having ended. */
    cloneStatus: p.text().default('running'),
    /** What is being copied: features first, then plans. */
    entityType: p.text().default('feature'),
    afterId: p.text().default(''),
    featuresCloned: p.integer().default(0),
    featuresSkipped: p.integer().default(0),
    featuresFailed: p.integer().default(0),
    plansCloned: p.integer().default(0),
    plansSkipped: p.integer().default(0),
    plansFailed: p.integer().default(0),
    /** The first thousand of what failed. */
    errors: p.json<CloneError[]>().defaultRaw(`'[]'`),
    finishedAt: instant().nullable(),
  },
  uniques: [
    {
      name: 'environment_clone_running_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.sourceEnvironmentId}) where ${c.cloneStatus} = 'running'`,
    },
  ],
  indexes: [{ properties: ['sourceEnvironmentId', 'createdAt', 'id'] }],
});
export class EnvironmentClone extends schema.class {}
schema.setClass(EnvironmentClone);
