import { existsSync, readFileSync } from 'node:fs';
import { expect, it, test } from 'vitest';
import { passedOverMembers, passedOverRows } from '../../../api/passed-over-members.ts';

interface Schema {
  $ref?: string;
  type?: string | string[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
}
interface Operation {
  operationId: string;
  parameters?: { name: string; in: string }[];
  requestBody?: { content: { 'application/json'?: { schema: Schema } } };
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const specification = new URL('../../../../shared/spec/openapi-facts.json', import.meta.url);
const read = (file: URL) => JSON.parse(readFileSync(file, 'utf8')) as Document;
const ours = read(new URL('../../../docs/openapi.json', import.meta.url));

/** The alternatives of a schema, references followed. */
function alternatives(document: Document, schema: Schema | undefined): Schema[] {
  if (!schema) return [];
  if (schema.$ref)
    return alternatives(document, document.components.schemas[schema.$ref.split('/').slice(3).join('/')]);
  const inner = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return [schema, ...inner.flatMap((each) => alternatives(document, each))];
}

/** Every place of a body that has known members, with their names; a place with free ones has none. */
function places(document: Document, schema: Schema | undefined, at = '', depth = 0): Map<string, Set<string> | null> {
  const found = new Map<string, Set<string> | null>();
  if (depth > 7) return found;
  for (const one of alternatives(document, schema)) {
    const inner: [string, Schema][] = Object.entries(one.properties ?? {}).map(([name, member]) => [
      at === '' ? name : `${at}.${name}`,
      member,
    ]);
    const names = found.get(at);
    const isFree = one.additionalProperties !== undefined && one.additionalProperties !== false;
    if (isFree && !Object.keys(one.properties ?? {}).length && typeof one.additionalProperties === 'object')
      inner.push([`${at}{}`, one.additionalProperties]);
    if (isFree) found.set(at, null);
    else if (one.properties && names !== null)
      found.set(at, new Set([...(names ?? []), ...Object.keys(one.properties)]));
    if (one.items) inner.push([`${at}[]`, one.items]);
    for (const [place, member] of inner) {
      for (const [key, value] of places(document, member, place, depth + 1)) {
        const before = found.get(key);
        found.set(key, before && value ? new Set([...before, ...value]) : before === null ? null : value);
      }
    }
  }
  return found;
}

const bodyOf = (operation: Operation) => operation.requestBody?.content['application/json']?.schema;
const queryOf = (operation: Operation) =>
  (operation.parameters ?? []).filter((each) => each.in === 'query').map(({ name }) => name);
const listed = (document: Document) =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => ['get', 'post', 'put', 'delete'].includes(method))
      .map(([method, operation]) => ({ key: `${method} ${path.replace(/\{[^}]+\}/g, '{}')}`, operation })),
  );
const operations = listed(ours).map(({ key, operation }) => ({
  key: key.replace(' /v1/', ' /'),
  operation,
  places: places(ours, bodyOf(operation)),
  query: queryOf(operation),
}));

it('names what no schema has: a name that is built leaves the table', () => {
  for (const row of passedOverRows) {
    const names = row.passedOver;
    const used = operations.filter(({ operation, places, query }) => {
      const mine = row.operations?.some((name) => operation.operationId.startsWith(name.replace('*', ''))) ?? true;
      if (!mine) return false;
      const known = [...places].filter(
        ([place]) => place === row.at || (!row.operations && place.endsWith(`.${row.at}`)),
      );
      const missing = names.filter(
        (name) => known.some(([, has]) => has && !has.has(name)) || (row.at === '' && !query.includes(name)),
      );
      return missing.length === names.length;
    });
    expect(used.length, JSON.stringify(row)).toBeGreaterThan(0);
  }
});

// The specification lies beside the repository where it is developed and is no part of it.
test.runIf(existsSync(specification))('every name of a specified request is built or in the table', () => {
  const facts = read(specification);
  const specified = new Map(listed(facts).map(({ key, operation }) => [key, operation]));
  const lost: string[] = [];
  for (const { key, operation, places: known, query } of operations) {
    const published = specified.get(key);
    if (!published) continue;
    const inTable = (at: string, name: string) => passedOverMembers(operation.operationId, at).includes(name);
    for (const name of queryOf(published)) {
      if (!query.includes(name) && !inTable('', name)) lost.push(`${operation.operationId} ?${name}`);
    }
    for (const [at, names] of places(facts, bodyOf(published))) {
      const own = known.get(at);
      if (!own || !names) continue;
      for (const name of names)
        if (!own.has(name) && !inTable(at, name)) lost.push(`${operation.operationId} ${at} ${name}`);
    }
  }
  expect(lost).toEqual([]);
});
