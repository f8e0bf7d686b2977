import type { InvariantRule } from './invariant.ts';

/** I14, for the references that go from one environment to another on purpose: they stay within a tenant. spec: platform §9 */
export const environmentCloneRules: readonly InvariantRule[] = [
  {
    id: 'I14',
    rule: 'an environment is cloned from another one of its tenant',
    examines: 'select count(*) from environment_clone',
    violations: `
      select c.id as object, format('its source %s is not another environment of tenant %s', c.source_environment_id, c.tenant_id) as problem
      from environment_clone c where c.source_environment_id = c.environment_id or not exists (
        select from environment e where e.id = c.source_environment_id and e.tenant_id = c.tenant_id)`,
  },
  {
    id: 'I14',
    rule: 'a meter is a copy of a meter of its tenant',
    examines: `select count(*) from meter where source_environment_meter_id <> ''`,
    violations: `
      select m.id as object, format('it is a copy of %s, which is no other meter of tenant %s', m.source_environment_meter_id, m.tenant_id) as problem
      from meter m where m.source_environment_meter_id <> '' and not exists (
        select from meter s where s.id = m.source_environment_meter_id and s.tenant_id = m.tenant_id and s.environment_id <> m.environment_id)`,
  },
];
