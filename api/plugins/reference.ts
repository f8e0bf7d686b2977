import { STATUS_CODES } from 'node:http';
import swagger, { type SwaggerTransform, type SwaggerTransformObject } from '@fastify/swagger';
import { jsonSchemaTransform, jsonSchemaTransformObject } from '@fastify/type-provider-zod';
import apiReference from '@scalar/fastify-api-reference';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

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
    transform: withExamples,
    transformObject: tidied,
  });
}

/** The type provider drops what `.meta` says of a whole body; its example is what a reader copies. */
const withExamples: SwaggerTransform = (document) => {
  const transformed = jsonSchemaTransform(document);
  const source = document.schema?.body;
  const body = (transformed.schema as { body?: Record<string, unknown> } | undefined)?.body;
  const examples = source instanceof z.ZodType ? source.meta()?.examples : undefined;
  if (body && examples && !('$ref' in body)) body.examples = examples;
  return transformed;
};

/** The type provider writes every named schema twice, as input and as output: what nothing refers to is left out. */
const tidied: SwaggerTransformObject = (document) => {
  const whole = jsonSchemaTransformObject(document) as { paths?: unknown; components?: { schemas?: object } };
  const schemas = Object.entries(whole.components?.schemas ?? {});
  const byName = new Map(schemas);
  const used = new Set<string>();
  const visit = (value: unknown): void => {
    for (const [, name] of JSON.stringify(value ?? null).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (name === undefined || used.has(name)) continue;
      used.add(name);
      visit(byName.get(name));
    }
  };
  visit(whole.paths);
  const components = { ...whole.components, schemas: Object.fromEntries(schemas.filter(([name]) => used.has(name))) };
  return describeResponses({ ...whole, components }) as ReturnType<SwaggerTransformObject>;
};

function describeResponses<Document extends object>(document: Document): Document {
  const text = JSON.stringify(document);
  return JSON.parse(
    text.replace(/"(\d{3})":\{"description":"Default Response"/g, (_match, status: string) => {
      return `"${status}":{"description":"${STATUS_CODES[status] ?? status}"`;
    }),
  ) as Document;
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
      configuration: {
        pageTitle: 'Perennial API',
        withDefaultFonts: false,
        telemetry: false,
        hideClientButton: true,
        agent: { disabled: true },
      },
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
