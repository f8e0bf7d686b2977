import { realNow } from '../../../db/clock.ts';
import type { WebhookEndpoint } from '../../../db/entities/event/webhook-endpoint.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { placeEvents } from '../outbox-relay.ts';

/** Members of a row that say why and since when it is disabled, as far as a person's wish changes them. */
type Disabled = Pick<WebhookEndpoint, 'disabledReason' | 'disabledAt' | 'disabledAnswer' | 'disabledFailures'>;

const notDisabled: Disabled = { disabledReason: null, disabledAt: null, disabledAnswer: null, disabledFailures: null };

/** Members of an endpoint that a person makes enabled or disabled; one that is disabled already keeps its reason. design: people-and-events §B 19 */
export function disabledMembers(enabled: boolean, current: { enabled: boolean } | null): Partial<Disabled> {
  if (enabled) return notDisabled;
  if (current?.enabled === false) return {};
  return { ...notDisabled, disabledReason: 'requested', disabledAt: realNow() };
}

/**
 * Has an endpoint go on where it stopped, with what waits for it tried at once and its failures forgotten; with `isFromNow` behind the present
 * end of the feed, so that what lies before is left out and its receiver is told how much. A sender of before writes nothing any more.
 * design: people-and-events §A 4, B 19
 */
export async function resumeEndpoint(tx: Transaction, endpointId: string, isFromNow: boolean): Promise<void> {
  const droppedPosition = isFromNow ? await placeEvents(tx) : '0';
  await tx.rows(
    `update webhook_cursor set owner = null, leased_until = null, epoch = epoch + 1, pause_reason = null, paused_until = null,
       silent_since = null, failing_since = null, failures = 0, dropped_position = greatest(dropped_position, $2::bigint)
     where endpoint_id = $1`,
    [endpointId, droppedPosition],
  );
  await tx.rows('update webhook_line set next_at = $2 where endpoint_id = $1 and (next_at is not null or $3)', [
    endpointId,
    realNow(),
    isFromNow,
  ]);
}
