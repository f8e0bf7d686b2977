import swagger from '@fastify/swagger';
import { jsonSchemaTransform, jsonSchemaTransformObject } from '@fastify/type-provider-zod';
import apiReference from '@scalar/fastify-api-reference';
import type { FastifyInstance } from 'fastify';

/** Collects the routes registered after it into the OpenAPI document. */
export async function registerOpenApi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Perennial',
        version: '1.0',
        description: 'Self-hosted billing for recurring and usage-based pricing.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      security: [{ ApiKeyAuth: [] }],
      components: { securitySchemes: { ApiKeyAuth: { type: 'apiKey', in: 'header', name: 'x-api-key' } } },
    },
    transform: jsonSchemaTransform,
    transformObject: jsonSchemaTransformObject,
  });
}

/** The reference page and the document behind it. The page loads everything from this server. */
export async function registerReferencePage(app: FastifyInstance): Promise<void> {
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
  await app.register(async (page) => {
    page.addHook('onRequest', async (_request, reply) => {
      await reply.helmet({ contentSecurityPolicy: { useDefaults: false, directives: pagePolicy } });
    });
    await page.register(apiReference, {
      routePrefix: '/reference',
      configuration: { withDefaultFonts: false, telemetry: false, hideClientButton: true, agent: { disabled: true } },
    });
  });
}

const pagePolicy = {
  'default-src': ["'none'"],
  'script-src': ["'self'", "'unsafe-inline'"],
  'style-src': ["'self'", "'unsafe-inline'"],
  'img-src': ["'self'", 'data:', 'blob:'],
  'font-src': ["'self'", 'data:'],
  'connect-src': ["'self'"],
  'frame-ancestors': ["'none'"],
};
