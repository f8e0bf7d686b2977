import { Transform, type TransformCallback } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { refuse } from '../../billing/refusal.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Bytes of this request's body that are counted among those in flight. */
    bodyBytesInFlight: number;
  }
}

const mebibyte = 1024 * 1024;
const smallBodyBytes = mebibyte;
/** Large bodies leave this much to small ones, so that those who send little are served beside those who send much. */
const keptForSmallBytes = 16 * mebibyte;

/**
 * Bounds the bytes of all bodies that the process has read or is about to read and has not answered yet. A body counts with the
 * length it declares, before its first byte is read, and without one as its bytes arrive. What does not fit is 503 with Retry-After.
 * spec: platform §1.9
 */
export function registerBodyMemory(app: FastifyInstance): void {
  const maxBytes = (app.dependencies.config.bodyMemoryMib ?? 0) * mebibyte;
  if (maxBytes === 0) return;
  let inFlight = 0;
  const reserve = (request: FastifyRequest, bytes: number): void => {
    const isSmall = request.bodyBytesInFlight + bytes <= smallBodyBytes;
    if (inFlight + bytes > (isSmall ? maxBytes : maxBytes - keptForSmallBytes)) {
      throw refuse(
        'service_unavailable',
        'The service has as many requests in memory as it can hold; try again in a moment.',
      );
    }
    inFlight += bytes;
    request.bodyBytesInFlight += bytes;
  };
  const release = (request: FastifyRequest): void => {
    inFlight -= request.bodyBytesInFlight;
    request.bodyBytesInFlight = 0;
  };

  app.decorateRequest('bodyBytesInFlight', 0);
  app.addHook('preParsing', async (request, reply, payload) => {
    const declared = declaredBytes(request);
    if (declared === 0) return payload;
    // Whoever goes away before the answer gives back what was kept.
    reply.raw.once('close', () => release(request));
    if (declared !== null) {
      // A body longer than the route takes is refused without being read.
      if (declared <= request.routeOptions.bodyLimit) reserve(request, declared);
      return payload;
    }
    const counted = new Transform({
      transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback) {
        try {
          reserve(request, chunk.length);
          done(null, chunk);
        } catch (error) {
          payload.unpipe(counted);
          payload.resume();
          done(error as Error);
        }
      },
    });
    return payload.pipe(counted);
  });
  app.addHook('onResponse', (request, _reply, done) => {
    release(request);
    done();
  });
}

/** The length a body declares: 0 when there is none, null when it comes in chunks. */
function declaredBytes({ headers }: FastifyRequest): number | null {
  if (headers['transfer-encoding'] !== undefined) return null;
  const length = Number(headers['content-length'] ?? 0);
  return Number.isSafeInteger(length) && length > 0 ? length : 0;
}
