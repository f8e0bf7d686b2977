import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openApiDocument } from '../../../api/openapi-document.ts';
import { operationDescriptions } from '../../../api/reference/describe-operations.ts';

const committed = readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8');
const generated = await openApiDocument();

it('docs/openapi.json is what the routes say (npm run openapi writes it)', () => {
  expect(JSON.parse(committed)).toEqual(JSON.parse(generated));
});

it('every operation has an id of its own, a summary, a tag and its errors', () => {
  const document = JSON.parse(generated) as { paths: Record<string, Record<string, Operation>> };
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  for (const operation of operations) {
    expect(operation.summary, operation.operationId).toBeTruthy();
    expect(operation.tags?.length, operation.operationId).toBeGreaterThan(0);
    expect(Object.keys(operation.responses), operation.operationId).toContain('4XX');
  }
  const ids = operations.map((operation) => operation.operationId);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});

it('describes every parameter, and has no example of a filter, which the page would send and hide everything with', () => {
  const { paths } = JSON.parse(generated) as { paths: Record<string, Record<string, Operation>> };
  const parameters = Object.values(paths).flatMap((path) =>
    Object.values(path).flatMap(({ operationId, parameters = [] }) =>
      parameters.map((parameter) => ({ operationId, ...parameter })),
    ),
  );
  expect(parameters.length).toBeGreaterThan(600);
  const named = (list: typeof parameters) => list.map(({ operationId, name }) => `${operationId} ${name}`);
  expect(named(parameters.filter(({ description }) => !description?.endsWith('.')))).toEqual([]);
  const filters = parameters.filter((parameter) => parameter.in === 'query');
  expect(named(filters.filter((filter) => /"(example|examples)":/.test(JSON.stringify(filter.schema))))).toEqual([]);
});

it('describes every operation, and nothing that is no operation', () => {
  const { paths } = JSON.parse(generated) as {
    paths: Record<string, Record<string, Operation & { description?: string }>>;
  };
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const mute = operations.filter(
    ({ description, summary }) => !/^.{20,}\.$/s.test(description ?? '') || description === summary,
  );
  expect(mute.map(({ operationId }) => operationId)).toEqual([]);
  const ids = new Set(operations.map(({ operationId }) => operationId));
  expect(Object.keys(operationDescriptions).filter((id) => !ids.has(id))).toEqual([]);
});

it('describes every member of every body', () => {
  const { paths, webhooks, components } = JSON.parse(generated) as {
    paths: Record<string, Record<string, Described>>;
    webhooks: Record<string, Record<string, Described>>;
    components: { schemas: Record<string, Fields> };
  };
  const bodies = Object.values({ ...paths, ...webhooks }).flatMap((path) =>
    Object.values(path).flatMap(({ operationId, requestBody, responses }) =>
      [requestBody ?? {}, ...Object.values(responses)].flatMap(({ content }) =>
        Object.values(content ?? {}).map(({ schema }) => [operationId, schema] as const),
      ),
    ),
  );
  const members = [...bodies, ...Object.entries(components.schemas)].flatMap(([name, schema]) =>
    membersOf(name, schema),
  );
  expect(members.length).toBeGreaterThan(5000);
  expect(members.filter(({ text }) => !/^.{6,}[.…]$/s.test(text ?? '')).map(({ name }) => name)).toEqual([]);
});

it('has its groups in the order of a first day, and no other ones', () => {
  const document = JSON.parse(generated) as {
    tags: { name: string; description: string }[];
    paths: Record<string, Record<string, Operation>>;
  };
  const used = new Set(
    Object.values(document.paths).flatMap((path) => Object.values(path).flatMap(({ tags }) => tags)),
  );
  const names = document.tags.map(({ name }) => name);
  expect(names.toSorted()).toEqual([...used].toSorted());
  const day = ['Customers', 'Plans', 'Prices', 'Subscriptions', 'Events', 'Invoices', 'Payments', 'Settings'];
  expect(names.filter((name) => day.includes(name))).toEqual(day);
});

it('shows no path with the version twice', () => {
  const { paths } = JSON.parse(generated) as { paths: Record<string, Record<string, Operation>> };
  const twice = Object.entries(paths).filter(([path]) => path.startsWith('/v1/v1/'));
  expect(twice.length).toBe(4);
  for (const operation of twice.flatMap(([, path]) => Object.values(path)))
    expect(operation).toMatchObject({ deprecated: true, 'x-internal': true });
});

it('begins with what a reader needs before the first call', () => {
  const { info } = JSON.parse(generated) as { info: { description: string } };
  for (const text of ['x-api-key', 'Idempotency-Key', 'Retry-After', 'docs/api.md'])
    expect(info.description).toContain(text);
});

it.each([
  ['pauseSubscription', 'pause_mode', ['immediate']],
  ['resumeSubscription', 'resume_mode', ['immediate']],
  ['createPrice', 'entity_type', ['', 'PLAN', 'ADDON', 'SUBSCRIPTION', 'COSTSHEET']],
])('%s offers only the values of %s that it accepts', (operationId, field, accepted) => {
  const { paths } = JSON.parse(generated) as {
    paths: Record<string, Record<string, Operation & { requestBody: unknown }>>;
  };
  const operation = Object.values(paths)
    .flatMap((path) => Object.values(path))
    .find((each) => each.operationId === operationId);
  const member = found(operation?.requestBody, field);
  const text = JSON.stringify(member);
  expect(
    [...text.matchAll(/"(?:const":("[^"]*")|enum":\[([^\]]*)\])/g)].flatMap(([, one, many]) =>
      JSON.parse(`[${one ?? many}]`),
    ),
  ).toEqual(accepted);
});

/** The schema of a member, wherever it stands in the document of a body. */
function found(value: unknown, field: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  const { properties } = value as { properties?: Record<string, unknown> };
  if (properties && field in properties) return properties[field];
  for (const each of Object.values(value)) {
    const inside = found(each, field);
    if (inside !== undefined) return inside;
  }
  return undefined;
}

interface Operation {
  operationId: string;
  summary?: string;
  tags?: string[];
  parameters?: { in: string; name: string; description?: string; schema?: unknown }[];
  responses: Record<string, unknown>;
}

interface Fields {
  $ref?: string;
  description?: string;
  properties?: Record<string, Fields>;
  items?: Fields;
  additionalProperties?: Fields | boolean;
  allOf?: Fields[];
  anyOf?: Fields[];
  oneOf?: Fields[];
}
type Described = {
  operationId: string;
  requestBody?: { content?: Record<string, { schema: Fields }> };
  responses: Record<string, { content?: Record<string, { schema: Fields }> }>;
};

/** Every member with its text, named by where it stands. */
function membersOf(name: string, schema: Fields): { name: string; text: string | undefined }[] {
  const within = [...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  const more = [schema.items, schema.additionalProperties].filter((part) => typeof part === 'object');
  const own = Object.entries(schema.properties ?? {}).flatMap(([member, of]) => [
    { name: `${name}.${member}`, text: of.description },
    ...(of.$ref === undefined ? membersOf(`${name}.${member}`, of) : []),
  ]);
  return [...own, ...[...within, ...more].flatMap((part) => membersOf(name, part))];
}
