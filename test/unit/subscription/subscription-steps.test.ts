import { expect, test } from 'vitest';
import { subscriptionAgendaOrder } from '../../../billing/subscription/subscription-agenda.ts';
import { subscriptionSteps } from '../../../services/subscription/period/subscription-steps.ts';

/** Asks a gateway, so it is not work on rows alone. */
const charge = 'chargePayment';

test('every kind of agenda entry is a step that a workflow and a rehearsal perform alike', () => {
  expect([...Object.keys(subscriptionSteps), charge].sort()).toEqual([...subscriptionAgendaOrder].sort());
});
