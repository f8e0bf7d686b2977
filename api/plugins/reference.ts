import { STATUS_CODES } from 'node:http';
import swagger, { type SwaggerTransform, type SwaggerTransformObject } from '@fastify/swagger';
import { jsonSchemaTransform, jsonSchemaTransformObject } from '@fastify/type-provider-zod';
import apiReference from '@scalar/fastify-api-reference';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { describeFields } from '../reference/describe-fields.ts';
import { describeOperation } from '../reference/describe-operations.ts';
import { separateFiles } from '../reference/file-answers.ts';
import { exemplify, readExamples } from '../reference/operation-examples.ts';
import { outboundWebhooks } from '../reference/outbound-webhooks.ts';
import { noBody } from '../scalars.schema.ts';
import { groups } from './reference-groups.ts';
import { describeParameter } from './reference-parameters.ts';

const introduction = `Self-hosted billing for recurring and usage-based pricing.

**Credential.** Send the header \`x-api-key\`. A key belongs to one environment of one tenant; \`npm start\` prints one,
\`POST /v1/secrets/api/keys\` makes more.

**Sending again.** Send an \`Idempotency-Key\` with everything that changes something. The same key with the same request gives
the stored answer of the first time and no second effect; with another request it is \`409 already_exists\`.

**Errors.** One shape: \`code\` is for programs, \`message\` says which field is wrong, why, and what would be accepted, and
\`details.fields\` says it per field. Nothing of a refused request is written. A \`501 not_implemented\` names a field that is
not part of this release. After a \`503\` or \`429\` wait for \`Retry-After\` and send the request again with the same key.

**Values.** Amounts and quantities are decimals, sent as strings or numbers, read exactly and answered as strings; times are
RFC 3339 and are answered in UTC.

**More.** \`docs/api.md\` of the repository tells what holds for every request and how lists and usage events work,
\`docs/test-clocks.md\` how to try a year of billing in a minute.`;

/** Collects the routes registered after it into the OpenAPI document. */
export async function registerOpenApi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Perennial',
        version: '1.0',
        description: introduction,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      tags: [...groups],
      security: [{ ApiKeyAuth: [] }],
      components: {
        securitySchemes: {
          ApiKeyAuth: { type: 'apiKey', in: 'header', name: 'x-api-key' },
          PortalSession: { type: 'apiKey', in: 'header', name: 'X-Session-Token' },
        },
      },
    },
    transform: withExamples,
    transformObject: tidied,
  });
}

const optionalMark = 'x-optional-body';

/**
 * The type provider drops what `.meta` says of a whole body; its example is what a reader copies. A body that its schema lets be left
 * out is marked, because the document would call every body required.
 */
const withExamples: SwaggerTransform = (document) => {
  const transformed = jsonSchemaTransform(document);
  const source = document.schema?.body;
  if (source === noBody) delete (transformed.schema as { body?: unknown }).body;
  const body = (transformed.schema as { body?: Record<string, unknown> } | undefined)?.body;
  const examples = source instanceof z.ZodType ? source.meta()?.examples : undefined;
  if (body && examples && !('$ref' in body)) body.examples = examples;
  if (source instanceof z.ZodType && source.safeParse(null).success) {
    Object.assign(transformed.schema as object, { [optionalMark]: true });
  }
  // Published clients call some paths with the version twice; who reads the reference is shown those with it once.
  if (document.url.startsWith('/v1/v1/')) {
    Object.assign(transformed.schema as object, { deprecated: true, 'x-internal': true });
  }
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
  sayWhichBodiesAreRequired(whole.paths);
  describeParameters(whole.paths);
  describeOperations(whole.paths);
  for (const [name, schema] of schemas) describeFields(name, schema);
  const { webhooks, parameters } = outboundWebhooks();
  visit([whole.paths, webhooks]);
  // By name, so that the document does not depend on which file of routes is loaded first.
  const named = schemas.filter(([name]) => used.has(name)).sort(([a], [b]) => (a < b ? -1 : 1));
  const components = { ...whole.components, schemas: Object.fromEntries(named), parameters };
  return describeResponses({ ...whole, components, webhooks }) as ReturnType<SwaggerTransformObject>;
};

type Operation = {
  requestBody?: { required: boolean };
  parameters?: Parameters<typeof describeParameter>[1][];
  [optionalMark]?: boolean;
};

type Bodied = { content?: Record<string, { schema?: object }> };

/** Operations, and members of bodies that are no component of their own. */
function describeOperations(paths: unknown): void {
  const examples = readExamples();
  for (const operations of Object.values((paths ?? {}) as Record<string, Record<string, BodiedOperation>>)) {
    for (const operation of Object.values(operations)) {
      describeOperation(operation);
      for (const answer of Object.values(operation.responses)) separateFiles(answer);
      exemplify(operation, examples);
      const { operationId, requestBody, responses } = operation;
      const content = [requestBody ?? {}, ...Object.values(responses)].flatMap((body) =>
        Object.values(body.content ?? {}),
      );
      for (const { schema } of content) if (schema) describeFields(operationId, schema);
    }
  }
}

type BodiedOperation = {
  operationId: string;
  description?: string;
  requestBody?: Bodied;
  responses: Record<string, Bodied>;
};

function describeParameters(paths: unknown): void {
  for (const [path, operations] of Object.entries((paths ?? {}) as Record<string, Record<string, Operation>>)) {
    for (const { parameters = [] } of Object.values(operations)) {
      for (const parameter of parameters) describeParameter(path, parameter);
    }
  }
}

/** Without a body a route's schema is asked about null: what takes that is optional. */
function sayWhichBodiesAreRequired(paths: unknown): void {
  for (const operation of Object.values((paths ?? {}) as Record<string, Record<string, Operation>>).flatMap(
    Object.values,
  )) {
    if (operation.requestBody && operation[optionalMark]) operation.requestBody.required = false;
    delete operation[optionalMark];
  }
}

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
  app.get('/', { schema: { hide: true } }, async (_request, reply) => reply.redirect('/reference'));
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
        showDeveloperTools: 'never',
        agent: { disabled: true },
        mcp: { disabled: true },
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
