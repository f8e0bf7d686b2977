import { expect, it, test } from 'vitest';
import { previewDigest, readPreviewDigest } from '../../../../services/lifecycle/preview-digest.ts';
import { testPlatform } from '../../../support/billing.ts';
import type { Wire } from '../../invoice/invoice.fixture.ts';
import { hoursAfter, previewedSubscription, previewPlan } from './preview.fixture.ts';

const { api } = await testPlatform();
const at = '2026-02-10T00:00:00.000Z';
const made = await previewedSubscription(api, await previewPlan(api), at);
const pause = (more: object) => api<Wire>('POST', `/subscriptions/${made.id}/pause`, more);
const digest = (await pause({ dry_run: true })).body.preview_digest as string;
const [, signature] = digest.split('.');
const backdated = previewDigest({ ...readPreviewDigest(digest), at: hoursAfter(at, -0.5) });

it.each([
  ['that was made up', backdated],
  ['with the signature of another', `${backdated}.${signature}`],
  ['without its signature', digest.split('.')[0]!],
  ['with something behind it', `${digest}.`],
  ['signed by nobody', `${digest.split('.')[0]}.`],
])('a digest %s is refused, naming the field', async (_what, forged) => {
  const { status, body } = await pause({ preview_digest: forged });
  expect([status, body.code]).toEqual([400, 'validation_error']);
  expect(body.details.fields).toHaveProperty('preview_digest');
  // Where time executes what was previewed as well.
  const rehearsal = { until: '2026-03-02T00:00:00Z', preview_digest: forged };
  expect((await api('POST', `/subscriptions/${made.id}/rehearse`, rehearsal)).status).toBe(400);
});

test('a digest as it was given is taken', async () => {
  expect(await pause({ preview_digest: digest })).toMatchObject({ status: 200, body: { pause_start: at } });
});
