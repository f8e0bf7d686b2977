import cors from '@fastify/cors';
import helmet from '@fastify/helmet';
import underPressure from '@fastify/under-pressure';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { refuse } from '../../billing/refusal.ts';
import { registerBodyMemory } from './body-memory.ts';
import { registerRateLimit } from './rate-limit.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The answer carries a credential: no cache may keep it. */
    carriesCredential?: boolean;
  }
}

const permissionsPolicy = 'accelerometer=(), camera=(), geolocation=(), microphone=(), payment=(), usb=()';
const year = 31_536_000;

/** Security headers, CORS, limits of requests and of bodies, and load shedding. spec: platform §1.6, §1.9, §22 */
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
      'Last-Event-ID',
      'X-Request-ID',
    ],
    exposedHeaders: ['X-Request-ID', 'Retry-After'],
    strictPreflight: false,
  });
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id).header('permissions-policy', permissionsPolicy);
    if (request.protocol === 'https') void reply.header('strict-transport-security', `max-age=${year}`);
    if (request.routeOptions.config.carriesCredential) void reply.header('cache-control', 'no-store');
    done();
  });
  await limitLoad(app);
}

/** The event loop is measured over this long. */
const sampleMs = 1_000;

/** Tells whether a measurement can still hold the loading of the program, which is no load that callers made. */
function startWatch(app: FastifyInstance): () => boolean {
  let listeningAt = Number.POSITIVE_INFINITY;
  app.addHook('onListen', async () => {
    listeningAt = performance.now();
  });
  // The sample that was under way when listening began ends within one length, and counts for another.
  return () => performance.now() < listeningAt + 2 * sampleMs;
}

async function limitLoad(app: FastifyInstance): Promise<void> {
  const { maxEventLoopDelayMs } = app.dependencies.config;
  if (maxEventLoopDelayMs > 0) {
    const isStarting = startWatch(app);
    await app.register(underPressure, {
      maxEventLoopDelay: maxEventLoopDelayMs,
      sampleInterval: sampleMs,
      // Asynchronous, because the plugin does not catch what a synchronous handler throws.
      pressureHandler: async (request) => {
        if (isWatch(request) || isStarting()) return;
        throw refuse('service_unavailable', 'The service is at its limit; try again in a moment.');
      },
    });
  }
  registerRateLimit(app, isWatch);
  registerBodyMemory(app);
}

/** Health and metrics are read by machines that must see an overloaded server. */
function isWatch(request: FastifyRequest): boolean {
  return /\/(health|ready|metrics)$/.test(request.routeOptions.url ?? '');
}
