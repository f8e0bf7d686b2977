import { z } from 'zod';
import { type EventOf, eventFamily, metadata } from './event-family.ts';

/** A customer as outbound events carry it. spec: platform §17.2 */
export const customer = z
  .strictObject({
    id: z.string(),
    external_id: z.string(),
    environment_id: z.string(),
    name: z.string(),
    email: z.string().nullable(),
    address_line1: z.string().nullable(),
    address_line2: z.string().nullable(),
    address_city: z.string().nullable(),
    address_state: z.string().nullable(),
    address_postal_code: z.string().nullable(),
    address_country: z.string().nullable(),
    timezone: z.string(),
    metadata: metadata(),
  })
  .meta({ id: 'OutboundCustomer' });

export type ToldCustomer = z.input<typeof customer>;

export const customerEvents = eventFamily({
  entityType: 'customer',
  payload: z.strictObject({ customer }),
  events: {
    'customer.created': 'A customer was created.',
    'customer.updated': 'A customer was changed.',
    'customer.deleted': 'A customer was deleted.',
  },
});

export type CustomerEvent = EventOf<typeof customerEvents>;
