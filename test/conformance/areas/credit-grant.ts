import { expect } from 'vitest';
import { type AreaCalls, type Conversation, present } from '../conversation.ts';

/** Credit grants. */
export function creditGrantCalls({ client, made }: Conversation): Record<string, AreaCalls> {
  let grantId = '';
  const grants: AreaCalls = {
    async createCreditGrant() {
      const grant = await client.creditGrants.createCreditGrant({
        name: 'Monthly credits',
        scope: 'PLAN',
        planId: made.planId,
        cadence: 'RECURRING',
        credits: '100',
        period: 'MONTHLY',
        periodCount: 1,
        priority: 1,
        metadata: { campaign: 'spring' },
      });
      expect(grant).toMatchObject({ name: 'Monthly credits', scope: 'PLAN', credits: '100', periodCount: 1 });
      grantId = present(grant.id);
    },
    async getCreditGrant() {
      expect(await client.creditGrants.getCreditGrant(grantId)).toMatchObject({ id: grantId, priority: 1 });
    },
    async updateCreditGrant() {
      const grant = await client.creditGrants.updateCreditGrant(grantId, { name: 'Renamed' });
      expect(grant).toMatchObject({ id: grantId, name: 'Renamed' });
    },
    async deleteCreditGrant() {
      await client.creditGrants.deleteCreditGrant(grantId, {});
    },
  };
  return { 'credit-grants': grants };
}
