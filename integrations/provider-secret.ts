import { z } from 'zod';

const maxLength = 8_192;

/** A secret that has to be there. */
export const requiredSecret = (max = maxLength) =>
  z
    .string()
    .max(max, `must have at most ${max} characters`)
    .refine((text) => text.trim() !== '', 'must not be empty');

export const optionalSecret = () => requiredSecret().nullish();

/** The secret that verifies notifications, where a provider has one that may be given later. */
export const webhookSecret = () => ({ webhook_secret: optionalSecret() });
