import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import type { DestinationStream } from 'pino';
import { describeError } from '../db/error-description.ts';
import { newUlid } from '../db/id.ts';

export interface LoggerOptions {
  level: string;
  /** Where the lines go; standard output when absent. */
  stream?: DestinationStream;
}

const requestIdPattern = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's `X-Request-ID` when it is well formed, else a new one. spec: platform §1.6 */
export function requestId(request: IncomingMessage): string {
  const header = request.headers['x-request-id'];
  return typeof header === 'string' && requestIdPattern.test(header) ? header : newUlid();
}

/**
 * Pino's settings. What is logged of a request and of an error is an allow-list, so that no header, body, query string or
 * parameter of a statement can carry a secret into the log. spec: platform §23 Logs
 */
export function loggerSettings(options: LoggerOptions | false): NonNullable<FastifyServerOptions['logger']> {
  if (options === false) return false;
  return {
    level: options.level,
    ...(options.stream ? { stream: options.stream } : {}),
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label) => ({ level: label }) },
    serializers: {
      req: (request) => ({ method: request.method, route: request.routeOptions?.url }),
      res: (reply) => ({ statusCode: reply.statusCode }),
      err: (error) => ({ ...describeError(error) }),
    },
  };
}

/** One line a request, with ids and the pattern of the route instead of its path; none for health checks. */
export function logRequests(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    if (request.routeOptions.url?.endsWith('/health') || request.routeOptions.url?.endsWith('/ready')) return done();
    request.log.info(
      {
        method: request.method,
        route: request.routeOptions.url ?? null,
        status: reply.statusCode,
        duration_ms: Math.round(reply.elapsedTime * 10) / 10,
        tenant_id: request.scope?.tenantId ?? null,
        environment_id: request.scope?.environmentId ?? null,
        actor: request.scope?.actor ?? null,
      },
      'request',
    );
    done();
  });
}
