import { createHmac, timingSafeEqual } from 'node:crypto';
import { badField } from '../../db/rows/record.ts';
import { signatureMark } from '../../services/lifecycle/preview-digest.ts';
import type { Api } from '../api.ts';

/**
 * Signs every `preview_digest` that is answered and takes back none that was not given in its environment: it names the moment that an
 * execution takes for its own, so that whoever could make one up would date a change before others that were made since.
 * Without signing keys they are taken as they come. docs: previews.md
 */
export function registerPreviewSignatures(v1: Api): void {
  const [key, ...earlier] = v1.dependencies.config.portalSigningKeys ?? [];
  if (key === undefined) return;
  v1.addHook('preHandler', async ({ body, scope }) => {
    const digest = digestOf(body);
    if (digest === null) return;
    if ([key, ...earlier].some((each) => isSigned(each, scope.environmentId, digest))) return;
    throw badField('preview_digest', 'must be the preview_digest that a preview gave');
  });
  v1.addHook('preSerialization', async ({ scope }, _reply, payload) => {
    const digest = digestOf(payload);
    if (digest === null || digest.includes(signatureMark)) return payload;
    return { ...(payload as object), preview_digest: signed(key, scope.environmentId, digest) };
  });
}

function digestOf(message: unknown): string | null {
  const { preview_digest: digest } = (message ?? {}) as { preview_digest?: unknown };
  return typeof digest === 'string' && digest !== '' ? digest : null;
}

function signed(key: string, environmentId: string, digest: string): string {
  const signature = createHmac('sha256', key)
    .update(`perennial preview ${environmentId} ${digest}`)
    .digest('base64url');
  return `${digest}${signatureMark}${signature}`;
}

function isSigned(key: string, environmentId: string, given: string): boolean {
  const [digest = ''] = given.split(signatureMark);
  const [expected, actual] = [Buffer.from(signed(key, environmentId, digest)), Buffer.from(given)];
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}
