import { expect } from 'vitest';
import type { Api } from '../../support/app.ts';

interface Change {
  action: string;
  noun: string;
  name: string;
  fields: { field: string; from: unknown; to: unknown }[];
}

export type Document = Record<string, Record<string, unknown>[]>;

/** Pushes and pulls whole catalogues. */
export function catalogueFile(api: Api) {
  const push = (catalogue: unknown, options: Record<string, unknown> = {}) =>
    api<{ applied: boolean; changes: Change[]; details: { fields: Record<string, string> }; message: string }>(
      'POST',
      '/catalogue/push',
      { catalogue, ...options },
    );
  const pull = async () => (await api<Document>('GET', '/catalogue')).body;
  const done = async (catalogue: unknown, options: Record<string, unknown> = {}) => {
    const { status, body } = await push(catalogue, options);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.changes.map(({ action, name }) => `${action} ${name}`);
  };
  return { push, pull, done };
}
