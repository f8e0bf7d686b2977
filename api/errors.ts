import type { Socket } from 'node:net';
import { hasZodFastifySchemaValidationErrors } from '@fastify/type-provider-zod';
import { isGrpcServiceError, WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type RefusalCode, type RefusalDetails, refusalIn, statusOfCode } from '../billing/refusal.ts';
import { firstFailure, validationDetails } from './validation.ts';

/** The one error body, which serves both published shapes. spec: platform §2.1 */
export const errorBody = z
  .object({
    code: z.enum(Object.keys(statusOfCode) as [RefusalCode, ...RefusalCode[]]),
    http_status_code: z.int(),
    message: z.string(),
    details: z
      .record(z.string(), z.union([z.record(z.string(), z.unknown()), z.array(z.unknown())]))
      .optional()
      .describe(
        '`fields`: what is wrong with each; `context`: plain facts, such as ids and states; others are named by texts.',
      ),
    success: z.literal(false),
    error: z.object({ message: z.string(), internal_error: z.literal('') }),
  })
  .meta({
    id: 'ErrorResponse',
    examples: [
      {
        code: 'validation_error',
        http_status_code: 400,
        message: 'name is required',
        details: { fields: { name: 'is required' } },
        success: false,
        error: { message: 'name is required', internal_error: '' },
      },
    ],
  });

/** The error part of a route's `response` schema. */
export const errorResponses = {
  '4xx': errorBody.describe('The request was refused.'),
  '5xx': errorBody.describe('The server failed; `details.context.request_id` finds the cause in its log.'),
};

/** Beside `errorResponses`, for operations that answer 501. */
export const notBuiltResponse = {
  501: errorBody.describe('What was asked is not part of this release, or not configured here; `message` names it.'),
};

/**
 * No credential, or one that is not valid. One text for all that are malformed, unknown, expired or archived, so that nobody learns
 * which keys there are; a header that was not sent at all is told. spec: platform §2.2, §3.1
 */
export class NotAuthenticated extends Error {
  constructor(message = 'The API key in the x-api-key header is not valid here: it is unknown, expired or revoked.') {
    super(message);
  }
}

/** Thrown inside a handler when the answer to its Idempotency-Key is already stored; the error handler sends it. */
export class AnsweredBefore extends Error {
  readonly statusCode: number;
  readonly body: string;
  constructor(statusCode: number, body: string) {
    super('answered before');
    this.statusCode = statusCode;
    this.body = body;
  }
}

interface Answer {
  code: RefusalCode;
  status: number;
  message: string;
  details?: RefusalDetails | undefined;
}

/** Fastify's error handler: turns whatever was thrown into the published body, and logs what is our fault. */
export function handleError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  if (error instanceof AnsweredBefore) {
    void sendText(reply, error.statusCode, error.body);
    return;
  }
  const answer = answerTo(error, request.id);
  if (answer.status >= 500 && answer.code !== 'not_implemented') request.log.error({ err: error }, answer.message);
  const isBusy = answer.status === 503 || answer.status === 429;
  if (isBusy && !reply.hasHeader('retry-after')) void reply.header('retry-after', '1');
  void sendText(reply, answer.status, errorText(answer));
}

/** What is no HTTP never becomes a request: the answer is written to the socket, in the same form. */
export function refuseBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const isSlow = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const answer = isSlow
    ? { ...invalid('The request did not arrive in time: send it faster, or less at once.'), status: 408 }
    : invalid('The request is not valid HTTP.');
  const text = errorText(answer);
  const status = isSlow ? '408 Request Timeout' : '400 Bad Request';
  const head = [`HTTP/1.1 ${status}`, 'Content-Type: application/json; charset=utf-8', 'Connection: close'];
  socket.end([...head, `Content-Length: ${Buffer.byteLength(text)}`, '', text].join('\r\n'));
}

/** Sends a JSON text that is already serialized. */
export function sendText(reply: FastifyReply, status: number, text: string): FastifyReply {
  void reply.code(status);
  return status === 204 ? reply.send() : reply.type('application/json; charset=utf-8').send(text);
}

/** The text of an error body. spec: platform §2.1 */
export function errorText({ code, status, message, details }: Answer): string {
  return JSON.stringify({
    code,
    http_status_code: status,
    message,
    ...(details ? { details: structured(details) } : {}),
    success: false,
    error: { message, internal_error: '' },
  });
}

/**
 * Details of which every member is an object or an array, because strict published clients parse them so: plain facts are
 * gathered in `context`. spec: decision 48
 */
function structured(details: RefusalDetails): RefusalDetails {
  const isPlain = (value: unknown) => typeof value !== 'object' || value === null;
  const plain = Object.entries(details).filter(([, value]) => isPlain(value));
  if (plain.length === 0) return details;
  const others = Object.entries(details).filter(([, value]) => !isPlain(value));
  return { ...Object.fromEntries(others), context: { ...(details.context ?? {}), ...Object.fromEntries(plain) } };
}

function answerTo(error: FastifyError, requestId: string): Answer {
  if (error instanceof NotAuthenticated) {
    return { code: 'permission_denied', status: 401, message: error.message };
  }
  const refusal = refusalIn(error);
  if (refusal) return answerToRefusal(refusal, requestId);
  if (hasZodFastifySchemaValidationErrors(error)) {
    return invalid(firstFailure(error.validation), validationDetails(error.validation));
  }
  const malformed = malformedRequest(error);
  if (malformed) return invalid(malformed);
  if (isBusyWorkflow(error)) {
    const message = 'The workflow of this object cannot take the request now; send it again.';
    return outage('service_unavailable', message, requestId);
  }
  if (isTemporary(error)) {
    return outage('service_unavailable', 'The service is temporarily unavailable; try again.', requestId);
  }
  return outage(isDatabaseError(error) ? 'database_error' : 'internal_error', unexpected, requestId);
}

const unexpected = 'An unexpected error occurred';

function answerToRefusal(refusal: NonNullable<ReturnType<typeof refusalIn>>, requestId: string): Answer {
  const status = statusOfCode[refusal.code];
  if (status === 500) return outage(refusal.code, unexpected, requestId);
  return { code: refusal.code, status, message: refusal.message, details: refusal.details };
}

function invalid(message: string, details?: RefusalDetails): Answer {
  return { code: 'validation_error', status: 400, message, details };
}

function outage(code: RefusalCode, message: string, requestId: string): Answer {
  return { code, status: statusOfCode[code], message, details: { request_id: requestId } };
}

/** What Fastify refuses before a handler runs. spec: platform §1.1, §1.9 */
function malformedRequest(error: FastifyError): string | null {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return 'The body is larger than this operation accepts: 5 MiB, 32 MiB of usage events, 1 MiB of a notification. Send less at once.';
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return 'The body must be JSON, with Content-Type: application/json.';
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return 'The body is not as long as Content-Length says.';
    case 'FST_ERR_BAD_URL':
      return 'The path is not a valid URL.';
    default:
      return typeof error.code === 'string' && error.code.startsWith('FST_') && isClientError(error.statusCode)
        ? 'The request is malformed.'
        : null;
  }
}

function isClientError(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500;
}

const grpcUnreachable = new Set([4, 14]);
// RESOURCE_EXHAUSTED: too many messages at once. FAILED_PRECONDITION: its last workflow task failed and is tried again.
const grpcBusy = new Set([8, 9]);
// Connection exceptions, operator intervention, too many connections, serialization and deadlock.
const temporaryStates = /^(08...|57P..|53300|40001|40P01)$/;
const socketErrors = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EHOSTUNREACH']);

/** Temporal answers, but the workflow a message is for cannot take it before it, or its worker, has recovered. */
export function isBusyWorkflow(error: unknown): boolean {
  return [...causes(error)].some((cause) => isGrpcServiceError(cause) && grpcBusy.has(cause.code));
}

/** Temporal or PostgreSQL does not answer, or PostgreSQL rolled the change back for another one. The same request may succeed later. */
function isTemporary(error: unknown): boolean {
  for (const cause of causes(error)) {
    if (cause instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return true;
    if (isGrpcServiceError(cause) && (grpcUnreachable.has(cause.code) || isBetweenTasks(cause))) return true;
    const { code } = cause as { code?: unknown };
    if (typeof code === 'string' && (socketErrors.has(code) || temporaryStates.test(code))) return true;
    if (/connection terminated|not queryable|timeout exceeded when trying to connect/i.test(cause.message)) return true;
  }
  return false;
}

/** After several crashes of a worker the server takes no Update for a workflow until a task of it has ended well. */
function isBetweenTasks({ message }: Error): boolean {
  return message.includes('Workflow Task in failed state');
}

function isDatabaseError(error: unknown): boolean {
  return [...causes(error)].some((cause) => /^[0-9A-Z]{5}$/.test(String((cause as { code?: unknown }).code ?? '')));
}

function* causes(error: unknown): Generator<Error> {
  for (let cause = error; cause instanceof Error; cause = cause.cause) yield cause;
}
