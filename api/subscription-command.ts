import type { FastifyRequest } from 'fastify';
import { keepSubscriptionCommand } from '../db/stores/subscription-command.ts';
import type { KeptCommand, SubscriptionChanged } from '../workflows/subscription.messages.ts';
import { type LifecycleObject, type LifecycleUpdate, updateObject } from './lifecycle.ts';

/**
 * Has the workflow of a subscription carry out what `content` asks for: it is kept as a row, which the command names, so that no
 * amount or text gets into a history. Answers and throws as `updateObject`. design: architecture §3 Ids only
 */
export async function commandSubscription(
  request: Pick<FastifyRequest, 'transaction' | 'temporal' | 'scope'>,
  object: LifecycleObject,
  update: LifecycleUpdate<SubscriptionChanged, KeptCommand>,
  { contentId, content }: { contentId: string; content: object },
): Promise<SubscriptionChanged> {
  const kept = { id: contentId, subscriptionId: object.id, content };
  await request.transaction((tx) => keepSubscriptionCommand(tx, tx.scope, kept));
  return updateObject(request, object, update, { contentId });
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
