import { describe, expect, test } from 'vitest';
import { activityFailure, isOutage } from '../../../activities/failure.ts';

const manyTries = { attempt: 40, activityType: 'chargePayment' };

describe('what is an outage', () => {
  test.each([
    [
      'a statement on a connection that broke before',
      new Error('Client has encountered a connection error and is not queryable'),
    ],
    ['a server that is killed', Object.assign(new Error('terminating connection'), { code: '57P01' })],
    [
      'Temporal that is away',
      new Error('Update-With-Start failed', { cause: Object.assign(new Error('no connection'), { code: 14 }) }),
    ],
    [
      'a workflow whose worker crashed several times',
      Object.assign(new Error('9 FAILED_PRECONDITION: update due to Workflow Task in failed state.'), { code: 9 }),
    ],
  ])('%s, however often it was tried', (_, error) => {
    expect(isOutage(error)).toBe(true);
    expect(activityFailure(error, manyTries)).toBe(error);
  });

  test('a bug is none, and parks its object after a few tries', () => {
    expect(isOutage(new TypeError('x is not a function'))).toBe(false);
    expect(activityFailure(new TypeError('x'), manyTries)).toMatchObject({ type: 'parked', nonRetryable: true });
  });
});
