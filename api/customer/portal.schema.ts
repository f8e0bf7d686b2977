import { z } from 'zod';
import { timestampOutput } from '../scalars.schema.ts';
import { updateCustomerBody } from './customer.schema.ts';

export const portalSession = z
  .object({
    url: z.string().describe('The portal with the token in its fragment, to send the customer to.'),
    token: z.string(),
    expires_at: timestampOutput(),
  })
  .meta({ id: 'PortalSession' });

const defaultLimit = 20;
const maxLimit = 100;
const limitRule = `must be an integer from 1 to ${maxLimit}`;

/** A page of the portal. Whatever else is sent, such as a customer, is ignored. spec: platform §11 */
export const portalPageBody = z
  .object({
    page: z.int('must be an integer').min(1, 'must be 1 or more').max(1_000_000, 'must be 1000000 at most').nullish(),
    limit: z.int(limitRule).min(1, limitRule).max(maxLimit, limitRule).nullish(),
  })
  .nullish();

/** The same as query parameters, for lists that are asked by GET. */
export const portalPageQuery = {
  page: z.coerce
    .number()
    .int('must be an integer')
    .min(1, 'must be 1 or more')
    .max(1_000_000, 'must be 1000000 at most')
    .optional(),
  limit: z.coerce.number().int(limitRule).min(1, limitRule).max(maxLimit, limitRule).optional(),
};

/** A numbered page as limit and offset. spec: wallets-and-payments §1.8 */
export function portalPage(
  body: { page?: number | null | undefined; limit?: number | null | undefined } | null | undefined,
): {
  limit: number;
  offset: number;
} {
  const limit = body?.limit ?? defaultLimit;
  return { limit, offset: ((body?.page ?? 1) - 1) * limit };
}

/** What customers may change of themselves; every other key is ignored. spec: platform §11 */
export const portalInfoBody = z
  .object({
    name: updateCustomerBody.shape.name,
    email: updateCustomerBody.shape.email,
    contact: updateCustomerBody.shape.contact,
    timezone: updateCustomerBody.shape.timezone,
    address_line1: updateCustomerBody.shape.address_line1,
    address_line2: updateCustomerBody.shape.address_line2,
    address_city: updateCustomerBody.shape.address_city,
    address_state: updateCustomerBody.shape.address_state,
    address_postal_code: updateCustomerBody.shape.address_postal_code,
    address_country: updateCustomerBody.shape.address_country,
  })
  .meta({ examples: [{ email: 'billing@acme.example', address_country: 'DE' }] });
