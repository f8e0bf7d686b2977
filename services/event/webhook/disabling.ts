import { realNow } from '../../../db/clock.ts';
import type { ScopedSql } from '../../../db/transaction.ts';
import { writeAudit } from '../../platform/audit.ts';
import { type Progress, saveProgress } from './progress.ts';

/** Reason for which a sender disables its endpoint: an answer of 410, or five days in which nothing was received. */
export type DisablingReason = 'gone' | 'failing';

/**
 * Writes down the last progress of a sender and disables its endpoint, with the reason, the last answer and the number of failed attempts on
 * it and in the audit. What waits for it stays. False, and nothing is written, when the endpoint was deleted, was enabled anew or has
 * another sender by now; one that a person disabled meanwhile keeps that reason, and one that has another URL than `url` stays enabled. design: people-and-events §B 19
 */
export async function disableEndpoint(
  tx: ScopedSql,
  progress: Progress,
  { reason, url }: { reason: DisablingReason; url: string },
): Promise<boolean> {
  const { endpointId, reception } = progress;
  // People's changes lock the endpoint before its cursor too.
  await tx.rows('select from webhook_endpoint where id = $1 for update', [endpointId]);
  if (!(await saveProgress(tx, progress))) return false;
  const now = realNow();
  const { failure, failures } = reception;
  const disabled = await tx.rows(
    `update webhook_endpoint set enabled = false, disabled_reason = $3, disabled_at = $4, disabled_answer = $5, disabled_failures = $6,
       updated_at = $4, updated_by = $7
     where id = $1 and environment_id = $2 and status = 'published' and enabled and url = $8 returning id`,
    [endpointId, tx.scope.environmentId, reason, now, failure, failures, tx.scope.actor, url],
  );
  if (disabled.length > 0) {
    const detail = { reason, answer: failure, failures };
    const entry = { objectType: 'webhook_endpoint', objectId: endpointId, action: 'disabled', occurredAt: now, detail };
    await writeAudit(tx, tx.scope, [entry]);
  }
  return true;
}
