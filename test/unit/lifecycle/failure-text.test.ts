import { ApplicationFailure, DefaultFailureConverter, DefaultPayloadConverter } from '@temporalio/common';
import { Decimal } from 'decimal.js';
import { describe, expect, test } from 'vitest';
import { activityFailure } from '../../../activities/failure.ts';

const secret = 'Ada Lovelace';
const ofDatabase = (code: string, message: string) => Object.assign(new Error(message), { code, severity: 'ERROR' });

/** Failure in a history after an attempt of an activity that threw. */
function recorded(error: unknown, attempt: number): string {
  const failure = activityFailure(error, { attempt, activityType: 'closePeriod' });
  return JSON.stringify(new DefaultFailureConverter().errorToFailure(failure, new DefaultPayloadConverter()));
}

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

describe.each([1, 40])('attempt %i', (attempt) => {
  test.each<[string, unknown, string]>([
    [
      'the database, about a value',
      ofDatabase('22P02', `invalid input syntax for type numeric: "${secret}"`),
      'the database refused a value (22P02)',
    ],
    ['a text that is no JSON', thrownBy(() => JSON.parse(secret)), 'SyntaxError'],
    ['a text that is no number', thrownBy(() => new Decimal(secret)), 'DecimalError'],
    ['an argument of Node', thrownBy(() => Buffer.from('').write(secret, secret as 'utf8')), 'ERR_UNKNOWN_ENCODING'],
    ['a cause of an error of ours', new Error('period not closed', { cause: new SyntaxError(secret) }), 'SyntaxError'],
    [
      'a cause of an outage',
      Object.assign(new Error('no answer', { cause: new RangeError(secret) }), { code: 'ETIMEDOUT' }),
      'no answer',
    ],
    ['what is no error', secret, 'something that is no error was thrown'],
  ])('keeps no text that may quote a row: %s', (_, error, told) => {
    const text = recorded(error, attempt);
    expect(text).toContain(told);
    expect(text).not.toContain(secret);
  });

  test.each([
    [
      'a constraint',
      ofDatabase('23514', 'new row for relation "invoice" violates check constraint "bewitched"'),
      'bewitched',
    ],
    ['a table that is not there', ofDatabase('42P01', 'relation "agenda_entry" does not exist'), 'agenda_entry'],
    ['an error of ours', new Error('refund ref_1 is gone under its lock'), 'refund ref_1 is gone under its lock'],
    ['a bug', new TypeError("Cannot read properties of null (reading 'id')"), "(reading 'id')"],
    ['a failure of Temporal', ApplicationFailure.retryable('the worker shuts down', 'worker_shutdown'), 'shuts down'],
  ])('tells operators what to mend: %s', (_, error, told) => {
    const text = recorded(error, attempt);
    expect(text).toContain(told);
    expect(text).toContain('failure-text.test.ts');
  });
});
