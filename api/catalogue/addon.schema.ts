import { z } from 'zod';
import type { AddonChange, NewAddon } from '../../services/catalogue/addon.ts';
import type { AddonContent } from '../../services/catalogue/addon-content.ts';
import { creditGrant, viewGrant } from '../wallet/credit-grant.schema.ts';
import { addonFields, addonTypes, viewAddonFields } from './addon-record.schema.ts';
import { entitlement, viewEntitlement } from './entitlement.schema.ts';
import { price, viewPrice } from './price.schema.ts';

/** Any JSON as a value. spec: catalogue-and-metering §1.3 */
export const jsonMetadata = z.record(z.string(), z.unknown());
const name = z.string().max(255);
const description = z.string().max(10_000);

export const createAddonBody = z
  .object({
    name,
    lookup_key: name,
    description: description.nullish(),
    type: z.union([z.literal(''), z.enum(addonTypes)]).nullish(),
    metadata: jsonMetadata.nullish(),
  })
  .meta({ examples: [{ name: 'Extra seats', lookup_key: 'extra-seats', type: 'multiple_instance' }] });

export const updateAddonBody = z.object({
  name: name.nullish(),
  description: description.nullish(),
  metadata: jsonMetadata.nullish(),
});

export function newAddon(body: z.output<typeof createAddonBody>): NewAddon {
  return {
    name: body.name,
    lookupKey: body.lookup_key,
    description: body.description ?? '',
    type: body.type || 'multiple_instance',
    metadata: JSON.stringify(body.metadata ?? {}),
  };
}

export function addonChange(body: z.output<typeof updateAddonBody>): AddonChange {
  return {
    name: body.name ?? undefined,
    description: body.description ?? undefined,
    metadata: body.metadata ? JSON.stringify(body.metadata) : undefined,
  };
}

/** An add-on; what hangs on it is null where it was not asked for. spec: catalogue-and-metering §10.1 */
export const addon = z
  .object({
    ...addonFields,
    prices: z.array(price).nullable(),
    entitlements: z.array(entitlement).nullable(),
    credit_grants: z.array(creditGrant).nullable(),
  })
  .meta({ id: 'Addon' });

/** The wire form of an add-on; what was not asked for is null. */
export function viewAddon(content: AddonContent): z.output<typeof addon> {
  return {
    ...viewAddonFields(content.addon),
    prices: content.prices?.map((row) => viewPrice(row.price, row)) ?? null,
    entitlements: content.entitlements?.map(viewEntitlement) ?? null,
    credit_grants: content.creditGrants?.map(viewGrant) ?? null,
  };
}
