import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import '../../../validation-text.ts';

const textOf = (schema: z.ZodType, value: unknown) => schema.safeParse(value).error?.issues[0]?.message;

describe('a value that a schema refuses is told of', () => {
  it.each([
    [z.string(), undefined, 'is required'],
    [z.string(), 7, 'must be a string'],
    [z.int(), 1.5, 'must be a whole number'],
    [z.boolean(), 'yes', 'must be true or false'],
    [z.array(z.string()), {}, 'must be an array'],
    [z.object({}), [], 'must be an object'],
    [z.enum(['a', 'b', 'c']), 'd', 'must be a, b or c'],
    [z.enum(['a', 'b']), undefined, 'is required'],
    [z.literal('x'), 'y', 'must be x'],
    [z.union([z.literal(''), z.enum(['a', 'b'])]), 'd', 'must be empty or a or b'],
    [z.union([z.string(), z.number()]), null, 'must be a string or a number'],
    [z.union([z.string(), z.object({ a: z.string() })]), { a: 1 }, 'has a form that is not accepted'],
    [z.string().min(1), '', 'must not be empty'],
    [z.string().min(3), 'a', 'must have at least 3 characters'],
    [z.string().max(1), 'ab', 'must have 1 character at most'],
    [z.string().length(2), 'abc', 'must have exactly 2 characters'],
    [z.array(z.int()).max(2), [1, 2, 3], 'must have 2 elements at most'],
    [z.number().min(1), 0, 'must be 1 or more'],
    [z.number().lt(5), 5, 'must be less than 5'],
    [z.number().gt(5), 5, 'must be greater than 5'],
    [z.number().max(5), 6, 'must be 5 or less'],
    [z.number().multipleOf(2), 3, 'must be a multiple of 2'],
    [z.email(), 'a', 'must be a mail address'],
    [z.iso.datetime(), 'a', 'must be an instant with its zone, such as 2026-01-31T00:00:00Z'],
    [z.string().startsWith('sk_'), 'a', 'must begin with sk_'],
    [z.strictObject({}), { a: 1, b: 2 }, 'has members that are not known: a, b'],
    [z.record(z.string().max(1), z.string()), { ab: '' }, 'has a name that is not accepted'],
  ])('%# in plain words', (schema, value, text) => {
    expect(textOf(schema, value)).toBe(text);
  });

  it('what a schema says itself goes before', () => {
    expect(textOf(z.string('must be a name'), 7)).toBe('must be a name');
  });

  it('never in the words of the library', () => {
    const schema = z.strictObject({
      a: z.union([z.string().min(2).max(3), z.array(z.email()).min(1), z.null()]),
      b: z.record(z.string().regex(/^x/), z.int().positive().max(9)),
      c: z.tuple([z.enum(['p', 'q']), z.url()]),
    });
    fc.assert(
      fc.property(fc.anything(), fc.anything(), fc.anything(), (a, b, c) => {
        for (const { message } of schema.safeParse({ a, b, c }).error?.issues ?? [])
          expect(message).toMatch(/^(?:is|has|must) /);
      }),
    );
  });
});
