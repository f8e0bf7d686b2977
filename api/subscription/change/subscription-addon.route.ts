import { z } from 'zod';
import { customerNow } from '../../../db/clock.ts';
import type { Transaction } from '../../../db/transaction.ts';
import {
  associationsOf,
  findAssociation,
  subscriptionOfAssociation,
} from '../../../services/subscription/addon/addon-association.ts';
import { subscriptionOwner } from '../../../services/subscription/read/subscription-read.ts';
import { attachAddon, detachAddon } from '../../../workflows/subscription/subscription.messages.ts';
import type { Api } from '../../api.ts';
import { sendCommand } from '../../command.ts';
import { errorResponses } from '../../errors.ts';
import { viewOpened } from '../../payment/checkout-workflow.ts';
import { idParams } from '../../scalars.schema.ts';
import { openChangeCheckout } from '../subscription-checkout.ts';
import {
  addonAssociation,
  attachAddonBody,
  attachedAddon,
  detachAddonBody,
  detachmentOf,
  newAttachment,
  viewAssociation,
  viewAttached,
} from './addon-association.schema.ts';

const tags = ['Subscriptions'];

/** Add-ons on subscriptions. spec: subscriptions-and-invoicing §1.10 */
export async function subscriptionAddonRoutes(app: Api): Promise<void> {
  app.post('/subscriptions/addon', {
    schema: {
      operationId: 'addSubscriptionAddon',
      tags,
      summary: 'Attach an add-on to a subscription',
      body: attachAddonBody,
      response: { 200: attachedAddon, ...errorResponses },
    },
    config: { permission: 'subscription:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const attachment = newAttachment(request.body, request.newId('addon_assoc'));
      const { checkout, subscription_id: subscriptionId, ...configuration } = request.body;
      if (checkout) {
        const change = { action: 'add_addon', attachment } as const;
        const order = { subscriptionId, change, configuration: { subscription_id: subscriptionId, ...configuration } };
        const sessionId = await openChangeCheckout(request, checkout, order);
        if (sessionId) {
          return request.transaction(async (tx) =>
            viewAttached(await findAssociation(tx, attachment.associationId), await viewOpened(request, tx, sessionId)),
          );
        }
      }
      const object = await request.transaction((tx) => objectOf(tx, subscriptionId));
      const command = { id: attachment.associationId, content: { attachment } };
      await sendCommand(request, object, attachAddon, command);
      return request.transaction(async (tx) => viewAttached(await findAssociation(tx, attachment.associationId)));
    },
  });

  app.delete('/subscriptions/addon', {
    schema: {
      operationId: 'removeSubscriptionAddon',
      tags,
      summary: 'Detach an add-on from its subscription',
      body: detachAddonBody,
      response: { 200: z.object({ message: z.string() }), ...errorResponses },
    },
    config: { permission: 'subscription:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const { addon_association_id: id } = request.body;
      const object = await request.transaction(async (tx) => objectOf(tx, await subscriptionOfAssociation(tx, id)));
      const command = { id: request.newId('subs_change'), content: detachmentOf(request.body) };
      await sendCommand(request, object, detachAddon, command);
      const { row } = await request.transaction((tx) => findAssociation(tx, id));
      return { message: `add-on ${row.addonId} ends on subscription ${row.entityId} at ${row.endDate}` };
    },
  });

  app.get('/subscriptions/:id/addons/associations', {
    schema: {
      operationId: 'getSubscriptionAddonAssociations',
      tags,
      summary: 'List the add-ons of a subscription',
      params: idParams,
      response: { 200: z.array(addonAssociation), ...errorResponses },
    },
    config: { permission: 'subscription:read' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => (await associationsOf(tx, params.id)).map(viewAssociation)),
  });
}

/** The subscription as a command's object, on its customer's clock. */
async function objectOf(tx: Transaction, id: string) {
  const { customerId, testClockId } = await subscriptionOwner(tx, id);
  return { kind: 'subscription' as const, id, customerId, testClockId, at: await customerNow(tx, customerId) };
}
