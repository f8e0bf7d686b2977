import { hasZodFastifySchemaValidationErrors } from '@fastify/type-provider-zod';
import type { FastifyRequest, FastifySchemaValidationError } from 'fastify';
import type { z } from 'zod';
import { refuse } from '../billing/refusal.ts';
import { firstFailure, validationDetails } from './validation.ts';

/**
 * The elements of a bulk body, of which each may be malformed by itself: then it is the refusal that says so, for the store to
 * throw together with what it refuses of the others, so that one answer names every bad element. A body that is wrong as a
 * whole is thrown at once. For routes with `attachValidation`. spec: catalogue-and-metering §4.2, §8.1
 */
export function bulkElements<Schema extends z.ZodType, Input>(
  request: Pick<FastifyRequest, 'validationError' | 'body'>,
  { schema, most }: { schema: Schema; most: number },
  inputOf: (item: z.output<Schema>) => Input,
): (Input | Error)[] {
  const failure = request.validationError;
  const items = (request.body as { items?: unknown } | null | undefined)?.items;
  if (!failure) return (items as z.output<Schema>[]).map(inputOf);
  if (!hasZodFastifySchemaValidationErrors(failure)) throw failure;
  const issuesOf = Map.groupBy(failure.validation, elementIndex);
  if (issuesOf.has(null) || !Array.isArray(items) || items.length > most) throw failure;
  return items.map((item, index) => {
    const issues = issuesOf.get(index);
    if (issues) return refuse('validation_error', firstFailure(issues), validationDetails(issues));
    // What was not malformed was parsed too, but the parsed form is not kept beside a failure.
    return inputOf(schema.parse(item));
  });
}

/** The element an issue is about; null for the body itself. */
function elementIndex({ instancePath }: FastifySchemaValidationError): number | null {
  const [, index] = /^\/items\/(\d+)(?:\/|$)/.exec(instancePath) ?? [];
  return index === undefined ? null : Number(index);
}
