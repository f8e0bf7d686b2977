import type { FastifyInstance } from 'fastify';
import { Counter, Histogram, Registry } from 'prom-client';

/** The measurements of one server. */
export interface Metrics {
  registry: Registry;
  requestDuration: Histogram<'method' | 'route' | 'status'>;
  /** Usage events that are stored and were answered 202: `accepted`. A second copy of an id is stored, so it counts too. */
  ingestedEvents: Counter<'result'>;
}

declare module 'fastify' {
  interface FastifyInstance {
    metrics: Metrics;
  }
}

/** Counts and times every request by the pattern of its route, and serves `/metrics`. design: architecture §8 */
export function registerMetrics(app: FastifyInstance): void {
  const registry = new Registry();
  const metrics: Metrics = {
    registry,
    requestDuration: new Histogram({
      name: 'perennial_http_request_duration_seconds',
      help: 'Time from the request line to the end of the answer',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers: [registry],
    }),
    ingestedEvents: new Counter({
      name: 'perennial_ingested_events_total',
      help: 'Usage events stored, by result',
      labelNames: ['result'],
      registers: [registry],
    }),
  };
  // Without a first value a rate over the first events would miss them.
  metrics.ingestedEvents.inc({ result: 'accepted' }, 0);
  app.decorate('metrics', metrics);
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown';
    metrics.requestDuration.observe(
      { method: request.method, route, status: reply.statusCode },
      reply.elapsedTime / 1_000,
    );
    done();
  });
  app.get('/metrics', { schema: { hide: true } }, async (_request, reply) => {
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}
