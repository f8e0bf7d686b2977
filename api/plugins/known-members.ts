import { validatorCompiler } from '@fastify/type-provider-zod';
import type { FastifyInstance, FastifySchemaCompiler, preValidationHookHandler, RouteOptions } from 'fastify';
import { z } from 'zod';
import { refuse } from '../../billing/refusal.ts';
import { notBuiltResponse } from '../errors.ts';
import { knownMembers, namesUnbuilt, surplusMembers, unknownIssues } from '../known-members.ts';
import { noBody } from '../schemas/scalars.ts';
import { wirePath } from '../validation.ts';

/**
 * Refuses members and query parameters that an operation does not know, in every operation registered after it. An operation
 * that declares no query string or no body knows none. Where platform §1.1 ignores what is unknown, decision 46 wins, also
 * for operations that need no body: there `{}` and empty members are taken.
 */
export function refuseUnknownMembers(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const { schema = {} } = route;
    const operation = String(schema.operationId);
    const querystring = schema.querystring ?? z.object({});
    const body = bodyOf(route);
    const response = {
      ...(isPartlyBuilt(operation, [querystring, body.body]) && notBuiltResponse),
      ...Object(schema.response),
    };
    route.schema = { ...schema, querystring, ...body, response };
    route.validatorCompiler = strictly(operation);
    route.preValidation = [parameterCheck(querystring, operation), ...[route.preValidation ?? []].flat()];
  });
}

/** Some member of a request is of the interface and not of this release, so its answer may be 501. */
function isPartlyBuilt(operation: string, schemas: readonly unknown[]): boolean {
  return schemas.some((schema) => schema instanceof z.ZodType && namesUnbuilt(knownMembers(schema, operation)));
}

/** Documented bodies stay as they are; where none is documented, none is known. */
function bodyOf({ method, schema }: RouteOptions): { body?: unknown } {
  if (schema?.body) return { body: schema.body };
  return [method].flat().some((name) => name === 'GET' || name === 'HEAD') ? {} : { body: noBody };
}

/** Unknown parameters are told before the body is looked at: they say that the caller means something else. */
function parameterCheck(querystring: unknown, operation: string): preValidationHookHandler {
  const known = querystring instanceof z.ZodType ? knownMembers(querystring, operation) : null;
  return (request, _reply, done) => {
    const surplus = known && surplusMembers(known, request.query);
    if (!surplus || surplus.unknown.length === 0) return done();
    done(Object.assign(new Error('unknown parameters'), { validation: unknownIssues(surplus, 'parameter') }));
  };
}

/** Validates as the type provider does, and then by names: 400 with what is unknown, 501 for what is known and not built. */
function strictly(operation: string): FastifySchemaCompiler<unknown> {
  return (route) => {
    const validate = validatorCompiler(route as Parameters<typeof validatorCompiler>[0]);
    const { schema, httpPart = '' } = route;
    const isNamed = ['querystring', 'body'].includes(httpPart) && schema instanceof z.ZodType;
    const known = isNamed ? knownMembers(schema, operation) : null;
    if (!known) return validate;
    return (data: unknown) => {
      const result = validate(data);
      const surplus = surplusMembers(known, data);
      if (!surplus) return result;
      const failures =
        typeof result === 'object' && 'error' in result && Array.isArray(result.error) ? result.error : [];
      const issues = [...unknownIssues(surplus, 'member'), ...failures];
      if (issues.length > 0) return { error: issues as never };
      return { error: notBuilt(surplus.later.map(wirePath)) };
    };
  };
}

function notBuilt(fields: readonly string[]): Error {
  const message = fields.map((field) => `${field} is not available yet; leave it out or empty`).join('; ');
  const reasons = Object.fromEntries(fields.map((field) => [field, 'not available yet']));
  return refuse('not_implemented', message, { fields: reasons });
}
