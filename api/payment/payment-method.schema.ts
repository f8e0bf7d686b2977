import { z } from 'zod';
import type { PaymentMethod } from '../../db/entities/payment/payment-method.ts';
import {
  decimalInput,
  decimalOutput,
  metadataInput,
  metadataOutput,
  recordOutput,
  viewRecord,
} from '../scalars.schema.ts';

export const createPaymentMethodBody = z
  .object({
    gateway: z.string().min(1).max(50).default('sandbox'),
    card_number: z
      .string()
      .max(30)
      .transform((text) => text.replaceAll(/[ -]/g, ''))
      .refine((digits) => /^\d{12,19}$/.test(digits), { message: 'must have 12 to 19 digits' })
      .describe('Sent to the gateway and kept nowhere else.'),
    max_amount: decimalInput({ above: '0' })
      .nullish()
      .describe('Most that may be charged at once without the payer, as its mandate says; left out for no limit.'),
    set_default: z.boolean().nullish(),
    metadata: metadataInput().nullish(),
  })
  .meta({ examples: [{ gateway: 'sandbox', card_number: '4000000000000002' }] });

export const paymentMethodParams = z.object({
  id: z.string().min(1).max(255),
  payment_method_id: z.string().min(1).max(255),
});

export const paymentMethod = z
  .object({
    ...recordOutput,
    customer_id: z.string(),
    gateway: z.string(),
    type: z.string(),
    brand: z.string(),
    last_four: z.string(),
    max_amount: decimalOutput().nullable(),
    is_default: z.boolean(),
    metadata: metadataOutput(),
  })
  .meta({ id: 'PaymentMethod' });

export const paymentMethodList = z.object({ items: z.array(paymentMethod) }).meta({ id: 'ListPaymentMethodsResponse' });

/** The gateway's token stays inside: who has it could charge the card. */
export function viewPaymentMethod(row: PaymentMethod): z.output<typeof paymentMethod> {
  return {
    ...viewRecord(row),
    customer_id: row.customerId,
    gateway: row.gateway,
    type: row.type,
    brand: row.brand,
    last_four: row.lastFour,
    max_amount: row.maxAmount ?? null,
    is_default: row.isDefault,
    metadata: row.metadata,
  };
}
