import { realNow } from '../../../db/clock.ts';
import type { Database } from '../../../db/orm.ts';
import { workflowScope } from '../../../db/scope.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { type RunningReplays, runningReplays } from '../../../services/event/webhook/replay.ts';
import { type EndpointStanding, endpointStanding } from '../../../services/event/webhook/standing.ts';
import type {
  WebhookEndpointStanding,
  WebhookEndpointStart,
} from '../../../workflows/event/webhook-endpoint.messages.ts';
import { mostWaiting } from './sender.ts';

/** The next look at an endpoint is this long after the last one at the earliest. */
const lookEveryMs = 60_000;

export type WebhookStandingActivities = ReturnType<typeof createWebhookStandingActivities>;

/** The step of the workflow that says how an endpoint stands. */
export function createWebhookStandingActivities({ database }: { database: Database }) {
  return {
    async lookAtEndpoint({ endpointId, ...owner }: WebhookEndpointStart): Promise<WebhookEndpointStanding> {
      return inSqlTransaction(database, workflowScope(owner), async (tx) => {
        const said = sayStanding(await endpointStanding(tx, endpointId), realNow());
        return sayReplays(said, await runningReplays(tx, endpointId), realNow());
      });
    },
  };
}

/** Standing of an endpoint as its workflow shows it; null for a deleted one. */
export function sayStanding(standing: EndpointStanding | null, now: string): WebhookEndpointStanding {
  if (standing === null) return { sentences: ['It is deleted and gets nothing.'], lookAt: null, isOver: true };
  const { isEnabled, isOwnerArchived, isServed, waiting, held, nextAt, failedSince, failure, skipped } = standing;
  const { pauseReason, pausedUntil } = standing;
  const sentences: string[] = [];
  if (isOwnerArchived) sentences.push('Its environment is archived: nothing is sent.');
  else if (!isEnabled) sentences.push(...sayDisabled(standing));
  else if (!isServed) sentences.push('No worker serves it at present; one that runs takes it up within a minute.');
  const isSent = isEnabled && !isOwnerArchived;
  if (isSent && pauseReason === 'asked') sentences.push(`It asked to wait: nothing is sent until ${pausedUntil}.`);
  if (isSent && pauseReason === 'unreachable')
    sentences.push(`It cannot be reached: one event is tried at ${pausedUntil}, and the others wait for it.`);
  if (waiting > 0) {
    const nextAttempt = pausedUntil !== null && (nextAt === null || pausedUntil > nextAt) ? pausedUntil : nextAt;
    const next = isSent ? `the next attempt is at ${nextAttempt}` : 'they are tried again once it is enabled';
    sentences.push(`${waiting} objects wait since ${failedSince}: the last attempt ended with "${failure}"; ${next}.`);
  }
  if (held > 0)
    sentences.push(
      `${held} objects are held after their last attempt, until on_exhausted is skip or the address changes.`,
    );
  if (waiting + held >= mostWaiting) sentences.push(`Nothing new is read while ${mostWaiting} objects wait.`);
  if (skipped > 0) sentences.push(`${skipped} events were given up.`);
  const isOver = isSent && isServed && waiting + held === 0 && pauseReason === null;
  if (isOver) sentences.push('Everything else is received.');
  const earliest = new Date(Date.parse(now) + lookEveryMs).toISOString();
  const changesByItself = isSent && (waiting > 0 || !isServed);
  return {
    sentences,
    lookAt: changesByItself ? (nextAt !== null && nextAt > earliest ? nextAt : earliest) : null,
    isOver,
  };
}

/** Sentences about an endpoint that is disabled: the reason, and the way back. design: people-and-events §B 19 */
function sayDisabled({ disabledReason, disabledAt, disabledAnswer, disabledFailures }: EndpointStanding): string[] {
  const reason = {
    gone: ', because its receiver answered 410: it wants nothing more',
    failing: `, because nothing was received for five days: ${disabledFailures} attempts failed in a row, the last with "${disabledAnswer}"`,
  }[disabledReason ?? ''];
  return [
    `It was disabled at ${disabledAt}${reason ?? ''}.`,
    'Nothing is sent until it is enabled; then it goes on where it stopped.',
  ];
}

/** Standing of an endpoint with what is sent to it again. */
export function sayReplays(
  said: WebhookEndpointStanding,
  { replay, singles }: RunningReplays,
  now: string,
): WebhookEndpointStanding {
  if (replay === null && singles === 0) return said;
  const sentences = [...said.sentences];
  if (singles > 0) sentences.push(`${singles} single events are to be sent again.`);
  if (replay !== null) {
    const { eventCount, received, failed } = replay;
    sentences.push(
      `A replay is under way: of ${eventCount} events ${received} were received and ${failed} were not, the others follow.`,
    );
  }
  const nextLook = new Date(Date.parse(now) + lookEveryMs).toISOString();
  const lookAt = said.lookAt !== null && said.lookAt < nextLook ? said.lookAt : nextLook;
  return { sentences, lookAt, isOver: false };
}
