import { z } from 'zod';
import type { PauseOrder, ResumeOrder } from '../../billing/subscription/subscription-command.ts';
import type { SubscriptionPause } from '../../db/entities/subscription/subscription-pause.ts';
import { previewDigestInput } from '../preview-digest.schema.ts';
import {
  metadataInput,
  metadataOutput,
  recordOutput,
  timestampInput,
  timestampOutput,
  viewRecord,
} from '../scalars.schema.ts';

const maxReasonLength = 255;
const prorationBehavior = z
  .enum(['create_prorations', 'none'])
  .nullish()
  .describe('What happens to charges in advance; the behavior of the subscription when left out.');
const dryRun = z.boolean().nullish().describe('Answers what would be with its preview_digest, and changes nothing.');

export const pauseBody = z
  .object({
    reason: z
      .string()
      .refine((text) => [...text].length <= maxReasonLength, `must have ${maxReasonLength} characters at most`)
      .nullish(),
    metadata: metadataInput().nullish(),
    proration_behavior: prorationBehavior,
    pause_mode: z
      .literal('immediate', 'must be immediate: a pause begins at once')
      .nullish()
      .describe('A pause begins at once.'),
    pause_start: timestampInput().nullish().describe('Ignored: a pause begins at once.'),
    pause_end: timestampInput().nullish().describe('Kept on the pause; it does not resume by itself.'),
    pause_days: z.int().min(1).max(3650).nullish().describe('The same as pause_end, in days from now.'),
    dry_run: dryRun,
    preview_digest: previewDigestInput,
  })
  .meta({ examples: [{ reason: 'seasonal break' }] });

export const resumeBody = z
  .object({
    proration_behavior: prorationBehavior,
    metadata: metadataInput().nullish().describe('Added to the metadata of the pause.'),
    resume_mode: z
      .literal('immediate', 'must be immediate: a resume takes place at once')
      .nullish()
      .describe('A resume takes place at once.'),
    dry_run: dryRun,
    preview_digest: previewDigestInput,
  })
  .nullish();

const dayMs = 86_400_000;

/** The pause that a body orders at the customer's present `at`. spec: subscriptions-and-invoicing §1.5 */
export function pauseOf(body: z.output<typeof pauseBody>, at: string): PauseOrder {
  const days = body.pause_days;
  const pauseEnd = body.pause_end ?? (days ? new Date(Date.parse(at) + days * dayMs).toISOString() : null);
  return {
    prorationBehavior: body.proration_behavior ?? null,
    pauseEnd,
    reason: body.reason ?? '',
    metadata: body.metadata ?? {},
  };
}

/** The resume that a body orders. spec: subscriptions-and-invoicing §1.5 */
export function resumeOf(body: z.output<typeof resumeBody>): ResumeOrder {
  return { prorationBehavior: body?.proration_behavior ?? null, metadata: body?.metadata ?? {} };
}

const pauseMembers = {
  ...recordOutput,
  subscription_id: z.string(),
  pause_start: timestampOutput(),
  pause_end: timestampOutput().nullable(),
  pause_mode: z.string(),
  pause_status: z.string(),
  resume_mode: z.string(),
  resumed_at: timestampOutput().nullable(),
  original_period_start: timestampOutput(),
  original_period_end: timestampOutput(),
  reason: z.string(),
  metadata: metadataOutput(),
};

export const subscriptionPause = z.object(pauseMembers).meta({ id: 'SubscriptionPause' });

/** One element holds everything, as the published client reads it. spec: §1.1 GET pauses */
export const pauseLists = z.array(z.object({ items: z.array(subscriptionPause), total: z.int() }));

/** The wire form of a pause. spec: interface, Subscription pause */
export function viewPause(row: SubscriptionPause): z.output<typeof subscriptionPause> {
  return {
    ...viewRecord(row),
    subscription_id: row.subscriptionId,
    pause_start: row.pauseStart,
    pause_end: row.pauseEnd ?? null,
    pause_mode: row.pauseMode,
    pause_status: row.pauseStatus,
    resume_mode: row.resumeMode,
    resumed_at: row.resumedAt ?? null,
    original_period_start: row.originalPeriodStart,
    original_period_end: row.originalPeriodEnd,
    reason: row.reason,
    metadata: row.metadata,
  };
}
