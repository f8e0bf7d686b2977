import { validatorCompiler } from '@fastify/type-provider-zod';
import type { FastifyInstance, FastifySchemaCompiler, preValidationHookHandler, RouteOptions } from 'fastify';
import { z } from 'zod';
import { type KnownMembers, knownMembers, unknownIssues, unknownMembers } from '../known-members.ts';
import { noBody } from '../scalars.schema.ts';

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
    route.schema = { ...schema, querystring, ...body };
    route.validatorCompiler = strictly(operation);
    route.preValidation = [parameterCheck(querystring, operation), ...[route.preValidation ?? []].flat()];
  });
}

/** Documented bodies stay as they are; where none is documented, none is known. */
function bodyOf({ method, schema }: RouteOptions): { body?: unknown } {
  if (schema?.body) return { body: schema.body };
  return [method].flat().some((name) => name === 'GET' || name === 'HEAD') ? {} : { body: noBody };
}

/** Unknown parameters are told before the body is looked at: they say that the caller means something else. */
function parameterCheck(querystring: unknown, operation: string): preValidationHookHandler {
  const knownOnce = membersOnce(querystring, operation);
  return (request, _reply, done) => {
    const known = knownOnce();
    const unknown = known ? unknownMembers(known, request.query) : [];
    if (unknown.length === 0) return done();
    done(Object.assign(new Error('unknown parameters'), { validation: unknownIssues(unknown, 'parameter') }));
  };
}

/** Validates as the type provider does, and then by names: 400 with what is unknown. */
function strictly(operation: string): FastifySchemaCompiler<unknown> {
  return (route) => {
    const validate = validatorCompiler(route as Parameters<typeof validatorCompiler>[0]);
    const { schema, httpPart = '' } = route;
    if (!['querystring', 'body'].includes(httpPart)) return validate;
    const knownOnce = membersOnce(schema, operation);
    return (data: unknown) => {
      const result = validate(data);
      const known = knownOnce();
      if (!known) return result;
      const unknown = unknownMembers(known, data);
      if (unknown.length === 0) return result;
      const failures =
        typeof result === 'object' && 'error' in result && Array.isArray(result.error) ? result.error : [];
      return { error: [...unknownIssues(unknown, 'member'), ...failures] as never };
    };
  };
}

/** The known members of a schema, derived at the first request: deriving those of all operations would delay each start of an API. */
function membersOnce(schema: unknown, operation: string): () => KnownMembers | null {
  let known: KnownMembers | null | undefined;
  return () => {
    if (known === undefined) known = schema instanceof z.ZodType ? knownMembers(schema, operation) : null;
    return known;
  };
}
