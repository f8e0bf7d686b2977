import { expect, test } from 'vitest';
import { lifecycleKinds } from '../../../lifecycles/kinds.ts';
import { subscriptionSteps } from '../../../services/subscription/period/subscription-steps.ts';

/** Asks a gateway, so it is not work on rows alone. */
const charge = 'chargePayment';

test('every kind of agenda entry is a step that a workflow and a rehearsal perform alike', () => {
  expect([...Object.keys(subscriptionSteps), charge].sort()).toEqual([...lifecycleKinds.subscription.agenda].sort());
});
