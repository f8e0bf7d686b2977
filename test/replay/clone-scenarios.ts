import pg from 'pg';
import { poll } from '../../dev/processes.ts';
import { retry } from '../../workflows/lifecycle.messages.ts';
import { environmentCloneWorkflowId } from '../../workflows/platform/environment-clone.messages.ts';
import type { Stage } from './stage.ts';

/** A catalogue is copied into a new environment, except for a plan that cannot be; and a run that cannot even begin is parked. */
export const cloneScenarios = {
  async 'environment-cloned'({ platform }: Stage): Promise<void> {
    const { api, temporal, scope } = platform;
    await api('PUT', '/settings/tenant_config', { value: { development: 10 } });
    const unit = await api('POST', '/prices/units', {
      name: 'Token',
      code: 't0k',
      symbol: 'T',
      base_currency: 'usd',
      conversion_rate: '0.02',
    });
    const plan = await api('POST', '/plans', { name: 'In tokens' });
    await api('POST', '/prices', {
      entity_type: 'PLAN',
      entity_id: plan.id,
      type: 'FIXED',
      billing_model: 'FLAT_FEE',
      billing_period: 'MONTHLY',
      invoice_cadence: 'ADVANCE',
      currency: 'usd',
      price_unit_type: 'CUSTOM',
      price_unit_config: { price_unit: 't0k', amount: '1' },
    });
    await api('DELETE', `/prices/units/${unit.id}`);
    const { id } = await api('POST', '/environments', { name: 'Copy', type: 'development' });
    await api('POST', `/environments/${scope.environmentId}/clone`, { target_environment_id: id });
    const pair = { sourceEnvironmentId: scope.environmentId, environmentId: id };
    await temporal.workflow.getHandle(environmentCloneWorkflowId(pair)).result();
  },

  async 'environment-clone-parked-and-retried'({ platform }: Stage): Promise<void> {
    const { api, temporal, scope } = platform;
    const { id } = await api('POST', '/environments', { name: 'Parked', type: 'development' });
    const run = temporal.workflow.getHandle(
      environmentCloneWorkflowId({ sourceEnvironmentId: scope.environmentId, environmentId: id }),
    );
    const owner = new pg.Client({ connectionString: platform.ownerUrl });
    await owner.connect();
    try {
      await owner.query('alter table environment_clone rename to environment_clone_away');
      await api('POST', `/environments/${scope.environmentId}/clone`, { target_environment_id: id });
      const blocked = async () => (await run.query<{ blockedOn: string | null }>('progress')).blockedOn ?? undefined;
      await poll(blocked, 40_000);
      await owner.query('alter table environment_clone_away rename to environment_clone');
    } finally {
      await owner.end();
    }
    await run.executeUpdate(retry);
    await run.result();
  },
};
