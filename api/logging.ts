import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import type { DestinationStream } from 'pino';
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

const secretLike =
  /\b(?:[spr]k|pm|whsec|cs)_[A-Za-z0-9_-]{20,}|\beyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?|\/\/[^/\s:@]+:[^/\s@]+@/g;

interface DescribedError {
  type: string;
  code?: unknown;
  message: string;
  stack: string;
  cause?: DescribedError;
}

/** An error as the log may show it: a database error without its statement and values, any text without what looks secret. */
export function describeError(error: unknown, depth = 0): DescribedError {
  if (!(error instanceof Error)) return { type: typeof error, message: 'not an Error', stack: '' };
  const { code, sqlMessage } = error as { code?: unknown; sqlMessage?: unknown };
  const isDatabase = typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code);
  const message = isDatabase ? withoutValues(String(sqlMessage ?? lastLine(error.message))) : error.message;
  const cause = error.cause instanceof Error && depth < 5 ? describeError(error.cause, depth + 1) : undefined;
  return {
    type: error.constructor.name,
    ...(code === undefined ? {} : { code }),
    message: message.replace(secretLike, '[redacted]').slice(0, 2_000),
    stack: (error.stack ?? '')
      .split('\n')
      .filter((line) => /^\s+at /.test(line))
      .slice(0, 20)
      .join('\n'),
    ...(cause ? { cause } : {}),
  };
}

function lastLine(message: string): string {
  return message.slice(message.lastIndexOf(' - ') + 1);
}

/** `invalid input syntax for type numeric: "…"` tells what a caller sent. */
function withoutValues(message: string): string {
  return message.replace(/: ".*/s, '');
}

/** One line a request, with ids and the pattern of the route instead of its path; none for health checks. */
export function logRequests(app: FastifyInstance): void {
  app.addHook('onResponse', async (request, reply) => {
    if (request.routeOptions.url?.endsWith('/health') || request.routeOptions.url?.endsWith('/ready')) return;
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
  });
}
