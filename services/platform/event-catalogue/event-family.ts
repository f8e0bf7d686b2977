import { z } from 'zod';

/**
 * Outbound events of one kind of object: they carry one payload. `events` has each type with a sentence that tells users when it is
 * sent. `isShownWhole` is true of types whose object is rendered in full when they are first shown. spec: platform §17.2
 */
export interface EventFamily {
  entityType: string;
  payload: z.ZodObject;
  events: Readonly<Record<string, string>>;
  isShownWhole?: true;
}

/** A family with its types kept: an event that is not one of them is a type error at its emitter. */
export function eventFamily<
  const Entity extends string,
  Payload extends z.ZodObject,
  const Type extends string,
>(family: { entityType: Entity; payload: Payload; events: Readonly<Record<Type, string>>; isShownWhole?: true }) {
  return family;
}

/** An event of a family as its emitter reports it. */
export type EventOf<Family> = Family extends {
  entityType: infer Entity;
  payload: infer Payload extends z.ZodObject;
  events: Readonly<Record<infer Type extends string, string>>;
}
  ? {
      name: Type;
      entityType: Entity;
      entityId: string;
      payload: z.input<Payload>;
      /** Instant of what happened, on the clock of the object. */
      occurredAt: string;
    }
  : never;

/** A decimal as events carry it: digits, never a float. */
export const decimal = () =>
  z
    .string()
    .regex(/^-?\d+(\.\d+)?$/)
    .meta({ format: 'decimal' });

/** An instant as events carry it: UTC with milliseconds. */
export const instant = () =>
  z
    .string()
    .regex(/^\d{4,6}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
    .meta({ format: 'date-time' });

/** Notes of whoever made the object. */
export const metadata = () => z.record(z.string(), z.string());
