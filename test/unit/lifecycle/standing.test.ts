import { expect, test } from 'vitest';
import { lifecycleKinds } from '../../../lifecycles/kinds.ts';
import { lifeText } from '../../../workflows/standing.ts';

const parked = {
  version: 1,
  status: 'pending',
  agenda: [{ at: '2026-01-01T00:00:00.000Z', kind: 'someStep', ref: '' }],
  ended: false,
  details: 'pending',
  spreadMs: 0,
  blockedOn: 'someStep',
  blockedReason: 'the gateway has not answered for 24 hours',
};

test.each(Object.entries(lifecycleKinds))(
  'the page of a parked %s names the request that tries it again',
  (kind, { workflowType }) => {
    const object = { type: workflowType, id: 'x_1', customerId: 'cust_1' };
    const text = lifeText(object, { snapshot: parked, steps: [], cancelRequestedAt: null, onTestClock: false });
    expect(text).toContain(`POST /v1/billing-run/${kind}/x_1/retry`);
    expect(text).toContain('**parked** at someStep: the gateway has not answered for 24 hours');
  },
);
