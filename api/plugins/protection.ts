import { createHash } from 'node:crypto';
import cors from '@fastify/cors';
import helmet from '@fastify/helmet';
import rateLimit from '@fastify/rate-limit';
import underPressure from '@fastify/under-pressure';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { refuse } from '../../billing/refusal.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The answer carries a credential: no cache may keep it. */
    carriesCredential?: boolean;
  }
}

const burstSeconds = 2;
const permissionsPolicy = 'accelerometer=(), camera=(), geolocation=(), microphone=(), payment=(), usb=()';
const year = 31_536_000;

/** Security headers, CORS, rate limit and load shedding. spec: platform §1.6, §1.9, §22 */
export async function registerProtection(app: FastifyInstance): Promise<void> {
  await app.register(helmet, {
    global: true,
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
    },
    frameguard: { action: 'deny' },
    referrerPolicy: { policy: 'no-referrer' },
    strictTransportSecurity: false,
  });
  await app.register(cors, {
    origin: '*',
    credentials: false,
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: [
      'Content-Type',
      'x-api-key',
      'Authorization',
      'X-Environment-ID',
      'X-Session-Token',
      'Idempotency-Key',
      'X-Request-ID',
    ],
    exposedHeaders: ['X-Request-ID', 'Retry-After'],
    strictPreflight: false,
  });
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('x-request-id', request.id).header('permissions-policy', permissionsPolicy);
    if (request.protocol === 'https') void reply.header('strict-transport-security', `max-age=${year}`);
    if (request.routeOptions.config.carriesCredential) void reply.header('cache-control', 'no-store');
  });
  await limitLoad(app);
}

async function limitLoad(app: FastifyInstance): Promise<void> {
  const { rateLimitPerSecond, maxEventLoopDelayMs } = app.dependencies.config;
  if (maxEventLoopDelayMs > 0) {
    await app.register(underPressure, {
      maxEventLoopDelay: maxEventLoopDelayMs,
      // Asynchronous, because the plugin does not catch what a synchronous handler throws.
      pressureHandler: async (request) => {
        if (isWatch(request)) return;
        throw refuse('service_unavailable', 'The service is at its limit; try again in a moment.');
      },
    });
  }
  if (rateLimitPerSecond > 0) {
    // A window of two seconds allows the rate on average and twice the rate as a burst.
    await app.register(rateLimit, {
      global: true,
      max: rateLimitPerSecond * burstSeconds,
      timeWindow: burstSeconds * 1_000,
      keyGenerator: limitedBy,
      allowList: (request) => isWatch(request),
      errorResponseBuilder: () =>
        refuse('too_many_requests', `More than ${rateLimitPerSecond} requests a second; try again in a moment.`),
    });
  }
}

/** Health and metrics are read by machines that must see an overloaded server. */
function isWatch(request: FastifyRequest): boolean {
  return /\/(health|ready|metrics)$/.test(request.routeOptions.url ?? '');
}

/** One limit a key, and one an address for calls without a key. The key itself is not kept. */
function limitedBy(request: FastifyRequest): string {
  const key = request.headers['x-api-key'];
  return typeof key === 'string' ? createHash('sha256').update(key).digest('base64') : request.ip;
}
