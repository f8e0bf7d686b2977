import { expect, test } from 'vitest';
import { subscriptionAgendaOrder } from '../../billing/subscription-agenda.ts';
import { subscriptionSteps } from '../../db/stores/subscription/subscription-steps.ts';

/** Asks a gateway, so it is not work on rows alone. */
const charge = 'chargePayment';

test('every kind of agenda entry is a step that a workflow and a rehearsal perform alike', () => {
  expect([...Object.keys(subscriptionSteps), charge].sort()).toEqual([...subscriptionAgendaOrder].sort());
});
