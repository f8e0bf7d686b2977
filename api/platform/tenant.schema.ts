import { z } from 'zod';
import type { Tenant } from '../../db/entities/platform/tenant.ts';
import type { TenantChange } from '../../services/platform/tenant.ts';
import { metadataInput, metadataOutput, timestampOutput, wholeSeconds } from '../scalars.schema.ts';

const text = () => z.string().max(255).nullish();

export const updateTenantBody = z
  .object({
    name: z.string().trim().min(1).max(255).nullish(),
    billing_details: z
      .object({
        email: text(),
        help_email: text(),
        phone: text(),
        address: z
          .object({
            address_line1: text(),
            address_line2: text(),
            address_city: text(),
            address_state: text(),
            address_postal_code: text(),
            address_country: text(),
          })
          .nullish(),
      })
      .nullish(),
    metadata: metadataInput().nullish(),
  })
  .meta({ examples: [{ name: 'Acme Software', billing_details: { email: 'finance@acme.example' } }] });

export function tenantChangeOf(body: z.output<typeof updateTenantBody>): TenantChange {
  return { name: body.name, billingDetails: body.billing_details, metadata: body.metadata };
}

const optional = z.string().nullable();

export const tenant = z
  .object({
    id: z.string(),
    name: z.string(),
    billing_details: z.object({
      email: optional,
      help_email: optional,
      phone: optional,
      address: z.object({
        address_line1: optional,
        address_line2: optional,
        address_city: optional,
        address_state: optional,
        address_postal_code: optional,
        address_country: optional,
      }),
    }),
    status: z.string(),
    metadata: metadataOutput(),
    created_at: timestampOutput(),
    updated_at: timestampOutput(),
  })
  .meta({ id: 'Tenant' });

export function viewTenant(row: Tenant): z.output<typeof tenant> {
  const details = row.billingDetails as NonNullable<z.output<typeof updateTenantBody>['billing_details']>;
  const address = details.address;
  return {
    id: row.id,
    name: row.name,
    billing_details: {
      email: details.email ?? null,
      help_email: details.help_email ?? null,
      phone: details.phone ?? null,
      address: {
        address_line1: address?.address_line1 ?? null,
        address_line2: address?.address_line2 ?? null,
        address_city: address?.address_city ?? null,
        address_state: address?.address_state ?? null,
        address_postal_code: address?.address_postal_code ?? null,
        address_country: address?.address_country ?? null,
      },
    },
    status: row.status,
    metadata: row.metadata,
    created_at: wholeSeconds(row.createdAt),
    updated_at: wholeSeconds(row.updatedAt),
  };
}
