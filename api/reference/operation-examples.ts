import { readFileSync } from 'node:fs';

/** A request that was sent in a run of the tests, and its answer, by operation id. */
export type OperationExamples = Record<string, { request?: unknown; answer: unknown }>;

type Bodied = { content?: Record<string, { schema?: { examples?: unknown }; example?: unknown }> };
type Operation = { operationId: string; requestBody?: Bodied; responses: Record<string, Bodied> };

/** Examples of the operations, as `npm run examples` chose them. */
export const readExamples = (): OperationExamples =>
  JSON.parse(readFileSync(new URL('./examples.json', import.meta.url), 'utf8')) as OperationExamples;

/** Shows a request and an answer with an operation. A body whose schema brings an example of its own keeps that. */
export function exemplify(operation: Operation, examples: OperationExamples): void {
  const example = examples[operation.operationId];
  if (!example) return;
  const sent = operation.requestBody?.content?.['application/json'];
  if (sent && example.request !== undefined && !sent.schema?.examples) sent.example = example.request;
  for (const [status, { content }] of Object.entries(operation.responses)) {
    const answered = content?.['application/json'] ?? content?.['text/event-stream'];
    if (status.startsWith('2') && answered) answered.example = example.answer;
  }
}
