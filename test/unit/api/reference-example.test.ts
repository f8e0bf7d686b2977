import { readFileSync } from 'node:fs';
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { type OperationExamples, readExamples } from '../../../api/reference/operation-examples.ts';

type Body = { required?: boolean; content?: Record<string, { schema: { examples?: unknown }; example?: unknown }> };
interface Operation {
  operationId: string;
  requestBody?: Body;
  responses: Record<string, Body>;
}

const document = JSON.parse(readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
  components: object;
};
const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
const json = (body: Body | undefined) => body?.content?.['application/json'];
const answers = operations.flatMap(({ operationId, responses }) =>
  Object.entries(responses).flatMap(([status, body]) => {
    const answered = json(body);
    return status.startsWith('2') && answered ? [{ operationId, status, ...answered }] : [];
  }),
);
const requests = operations.flatMap(({ operationId, requestBody }) => {
  const sent = json(requestBody);
  return sent ? [{ operationId, isRequired: requestBody?.required === true, ...sent }] : [];
});

/** No task of this release has a file yet, so that nobody can be shown the answer. */
const neverAnswered = ['downloadTaskExport'];

test('every body that must be sent, and every answer, has an example', () => {
  const mute = (list: readonly { operationId: string; example?: unknown; schema: { examples?: unknown } }[]) =>
    list.filter(({ example, schema }) => example === undefined && !schema.examples).map((one) => one.operationId);
  expect(mute(requests.filter((one) => one.isRequired))).toEqual([]);
  expect(mute(answers)).toEqual(neverAnswered);
});

test('no example is of an operation that is gone', () => {
  const known = new Set(operations.map(({ operationId }) => operationId));
  expect(Object.keys(readExamples() satisfies OperationExamples).filter((id) => !known.has(id))).toEqual([]);
});

describe('every example is what its schema says', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addFormat('decimal', /^-?\d+(\.\d+)?$/);
  // Compiled once and not for each example.
  ajv.addSchema({ $id: 'document', components: document.components });
  const check = (schema: object, example: unknown) => {
    const text = JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"document#/');
    const validate = ajv.compile(JSON.parse(text) as AnySchema);
    expect(validate(example), JSON.stringify(validate.errors?.slice(0, 3))).toBe(true);
  };
  const shown = <T extends { example?: unknown }>(list: readonly T[]) =>
    list.filter((one) => one.example !== undefined);
  test.each(shown(requests))('the request of $operationId', ({ schema, example }) => check(schema, example));
  test.each(shown(answers))('the answer $status of $operationId', ({ schema, example }) => check(schema, example));
});
