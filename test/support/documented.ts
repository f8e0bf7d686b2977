import { readFileSync } from 'node:fs';
import { unbuiltOperations } from '../../api/platform/unbuilt.route.ts';
import { recordExample } from './recorded-examples.ts';

interface Operation {
  operationId: string;
  responses: Record<string, unknown>;
}

const { paths } = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
};
/** Operations that are not built are always 501, and the document names none of them. */
const unbuilt = unbuiltOperations.map(([method, path, operationId]): [string, Record<string, Operation>] => [
  `/v1${path}`,
  { [method.toLowerCase()]: { operationId, responses: { 501: {} } } },
]);
const patterns = [...Object.entries(paths), ...unbuilt].map(([template, operations]) => ({
  operations,
  // A path without parameters goes before one that would take its last name for a parameter.
  parameters: template.split('{').length - 1,
  pattern: new RegExp(`^${template.replace(/\{[^}]+\}/g, '[^/]+').replaceAll('.', '\\.')}$`),
}));
patterns.sort((a, b) => a.parameters - b.parameters);

function operationAt(method: string, url: string): Operation | undefined {
  const path = url.split('?', 1)[0] ?? '';
  const found = patterns.find(({ pattern, operations }) => pattern.test(path) && method.toLowerCase() in operations);
  return found?.operations[method.toLowerCase()];
}

/**
 * Throws for an answer 501 of an operation whose document does not name it: who reads that must know before the first call. Keeps the call
 * where examples are recorded.
 */
export function checkDocumented(method: string, url: string, status: number, request: unknown, answer: unknown): void {
  const operation = operationAt(method, url);
  if (!operation) return;
  if (status === 501 && !('501' in operation.responses))
    throw new Error(`${operation.operationId} does not document 501`);
  recordExample(operation.operationId, status, request, answer);
}
