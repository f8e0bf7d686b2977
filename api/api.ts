import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ZodTypeProvider } from '@fastify/type-provider-zod';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';

/** The server as a resource sees it: schemas are zod, and the handler's types come from them. */
export type Api = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;
