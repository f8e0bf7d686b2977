import type { Descriptions } from './descriptions.ts';
import { catalogueFields } from './fields-catalogue.ts';
import { checkoutFields } from './fields-checkout.ts';
import { fieldsEverywhere } from './fields-everywhere.ts';
import { invoiceFields } from './fields-invoices.ts';
import { moneyFields } from './fields-money.ts';
import { outboundFields } from './fields-outbound.ts';
import { particularFields } from './fields-particular.ts';
import { platformFields } from './fields-platform.ts';
import { subscriptionFields } from './fields-subscriptions.ts';
import { usageFields } from './fields-usage.ts';
import { subjects } from './subjects.ts';

const descriptions: Descriptions = {
  ...fieldsEverywhere,
  ...catalogueFields,
  ...subscriptionFields,
  ...invoiceFields,
  ...moneyFields,
  ...checkoutFields,
  ...usageFields,
  ...platformFields,
  ...particularFields,
  ...outboundFields,
};

interface Schema {
  $ref?: string;
  description?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
}

/** Describes every member of a schema that has no text of its own. `name` is its component, or the operation whose body it is. */
export function describeFields(name: string, schema: unknown): void {
  describe(schema as Schema, [name]);
}

/** `within` are the subjects that the schema stands in, the outermost first. */
function describe(schema: Schema, within: readonly string[]): void {
  for (const [member, of] of Object.entries(schema.properties ?? {})) {
    const text = of.description ?? descriptionOf(member, within);
    if (text !== undefined) of.description = text;
    if (of.$ref === undefined) describe(of, [...within, member]);
  }
  for (const part of [...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])])
    describe(part, within);
  if (schema.items) describe(schema.items, within);
  if (typeof schema.additionalProperties === 'object') describe(schema.additionalProperties, within);
}

/** The text of the closest subject that has one. */
function descriptionOf(member: string, within: readonly string[]): string | undefined {
  for (const subject of within.toReversed().flatMap((name) => [name, ...(subjects[name] ?? [])])) {
    const text = descriptions[`${subject}.${member}`];
    if (text !== undefined) return text;
  }
  return descriptions[member];
}
