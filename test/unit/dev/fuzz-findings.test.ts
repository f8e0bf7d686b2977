import { expect, test } from 'vitest';
import { findingsOf, type Operations } from '../../fuzz/findings.ts';

const operations: Operations = {
  '/v1/plans': { post: { responses: { 201: {}, 501: {}, '4XX': {}, '5XX': {} } } },
  '/v1/meters': { post: { responses: { 201: {}, '4XX': {} } } },
};

const statusesFound = (label: string, method: string, statuses: (number | null)[]) => {
  const body = { $base64: Buffer.from('{"name":"x"}').toString('base64') };
  const interactions = Object.fromEntries(
    statuses.map((status, index) => [
      String(index),
      {
        request: { method, uri: 'http://host/v1/plans', body },
        response: status === null ? null : { status_code: status },
      },
    ]),
  );
  return findingsOf({ recorder: { label, interactions } }, operations).map(({ status }) => status);
};

test.each([
  [
    'answers of the document, refusals and a 501 that is documented are none',
    'plans',
    'POST',
    [201, 400, 409, 501],
    [],
  ],
  [
    'a fault, whatever the document has, an unknown success and no answer are',
    'plans',
    'POST',
    [500, 503, 202, null],
    [500, 503, 202, 0],
  ],
  ['a 501 that the document does not have is', 'meters', 'POST', [501, 201], [501]],
  ['another method is looked at for faults alone', 'plans', 'TRACE', [200, 404, 405, 501, 500], [500]],
])('%s', (_, noun, method, statuses, found) => {
  expect(statusesFound(`POST /v1/${noun}`, method, statuses)).toEqual(found);
});
