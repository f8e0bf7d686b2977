import { readFileSync } from 'node:fs';

/** An operation the published client has a method for. */
export interface Operation {
  area: string;
  operation: string;
  method: string;
  path: string;
}

function read<T>(path: string): T {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as T;
}

/** All of them, implemented or not: an index of the published client 2.0.1. */
export const operations = read<Operation[]>('./operations.json');

/** Those our OpenAPI document has. */
export function implementedOperations(): Operation[] {
  const { paths } = read<{ paths: Record<string, Record<string, unknown>> }>('../../docs/openapi.json');
  return operations.filter(({ method, path }) => paths[`/v1${path}`]?.[method.toLowerCase()] !== undefined);
}
