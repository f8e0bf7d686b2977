import type { FastifyRequest } from 'fastify';
import { inSqlTransaction } from '../../db/transaction.ts';
import {
  dropSubscriptionCommand,
  keepSubscriptionCommand,
} from '../../services/subscription/status/subscription-command.ts';
import type { KeptCommand, SubscriptionChanged } from '../../workflows/subscription/subscription.messages.ts';
import { type LifecycleObject, type LifecycleUpdate, updateObject } from '../lifecycle.ts';

/**
 * Has the workflow of a subscription carry out what `content` asks for: it is kept as a row, which the command names, so that no
 * amount or text gets into a history; of what fails nothing stays. Answers and throws as `updateObject`. design: architecture §3 Ids only
 */
export async function commandSubscription(
  request: Pick<FastifyRequest, 'server' | 'temporal' | 'scope' | 'log'>,
  object: LifecycleObject,
  update: LifecycleUpdate<SubscriptionChanged, KeptCommand>,
  { contentId, content }: { contentId: string; content: object },
): Promise<SubscriptionChanged> {
  return withKept(request, object.id, { id: contentId, content }, () =>
    updateObject(request, object, update, { contentId }),
  );
}

/**
 * Has the workflow carry a command out exactly as it was previewed; the digest, which holds amounts and names, is kept as a row
 * that the command names. Answers and throws as `updateObject`, and `version_conflict` with the difference. docs: previews.md
 */
export async function commandAsPreviewed<Message extends BoundCommand>(
  request: Parameters<typeof commandSubscription>[0],
  object: LifecycleObject,
  update: LifecycleUpdate<SubscriptionChanged, Message>,
  message: Omit<Message, 'caller' | 'at' | 'bindingId'> & { changeId: string },
  binding: { previewDigest: string | null; request: object },
): Promise<SubscriptionChanged> {
  const send = (bound: { bindingId?: string }) =>
    updateObject(request, object, update, { ...message, ...bound } as unknown as Omit<Message, 'caller' | 'at'>);
  if (binding.previewDigest === null) return send({});
  const bindingId = message.changeId;
  return withKept(request, object.id, { id: bindingId, content: binding }, () => send({ bindingId }));
}

type BoundCommand = Omit<KeptCommand, 'contentId'> & { bindingId?: string };

async function withKept<Answer>(
  request: Parameters<typeof commandSubscription>[0],
  subscriptionId: string,
  { id, content }: { id: string; content: object },
  send: () => Promise<Answer>,
): Promise<Answer> {
  const { database } = request.server.dependencies;
  const kept = { id, subscriptionId, content };
  await inSqlTransaction(database, request.scope, (tx) => keepSubscriptionCommand(tx, tx.scope, kept));
  try {
    return await send();
  } catch (error) {
    // A command that arrives after all finds nothing to do; the same request once more keeps it again.
    await inSqlTransaction(database, request.scope, (tx) => dropSubscriptionCommand(tx, tx.scope, id)).catch(
      (err: unknown) => request.log.warn({ err, contentId: id }, 'what a failed command asked for was not dropped'),
    );
    throw error;
  }
}

/** Has the workflow carry out a change under its id, bound to a preview where one is named. spec: subscriptions-and-invoicing §1.7–§1.9 */
export async function changeSubscription(
  request: Parameters<typeof commandSubscription>[0],
  object: LifecycleObject,
  update: LifecycleUpdate<SubscriptionChanged, KeptCommand>,
  { changeId, ...content }: { changeId: string; previewDigest: string | null; input: object },
): Promise<SubscriptionChanged> {
  return commandSubscription(request, object, update, { contentId: changeId, content });
}
