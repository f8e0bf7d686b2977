import { eventCatalogue, type OutboundEventType } from '../../platform/event-catalogue/event-catalogue.ts';

/** Published types that an endpoint may ask for and that are never sent. spec: platform §17.2 */
export const neverSentTypes = ['event.unmatched', 'invoice.create.drafted'] as const;

export type WebhookEventType = OutboundEventType | (typeof neverSentTypes)[number];

/** Types an endpoint can ask for: those of the catalogue, and the published ones that are never sent. spec: platform §17.2 */
export const webhookEventTypes: readonly WebhookEventType[] = [
  ...Array.from(eventCatalogue.values(), ({ type }) => type),
  ...neverSentTypes,
].sort();
