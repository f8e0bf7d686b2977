import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { newId } from '../../db/id.ts';

/** A request that succeeded, as it was sent and answered. */
export interface RecordedCall {
  operationId: string;
  /** Body as it was sent; null where there was none. */
  request: unknown;
  answer: unknown;
}

const folder = process.env.RECORD_EXAMPLES;
/** Bodies that nobody reads to the end are no examples. */
const maxCharacters = 12_000;
const maxOfOperation = 40;
const calls: RecordedCall[] = [];
const counts = new Map<string, number>();

/**
 * Keeps what a test file sends and is answered, when `RECORD_EXAMPLES` names a folder; `npm run examples -- <folder>` chooses the examples of
 * the API description among it.
 */
export function recordExample(operationId: string, status: number, request: unknown, answer: unknown): void {
  if (folder === undefined || status >= 300 || typeof answer !== 'object' || answer === null) return;
  const count = counts.get(operationId) ?? 0;
  if (count >= maxOfOperation || JSON.stringify([request ?? null, answer]).length > maxCharacters) return;
  counts.set(operationId, count + 1);
  calls.push({ operationId, request: request ?? null, answer });
}

if (folder !== undefined) {
  afterAll(() => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${newId('calls')}.json`), JSON.stringify(calls));
  });
}
