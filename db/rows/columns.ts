import { p, Type } from '@mikro-orm/core';

/**
 * An instant: `timestamptz` in PostgreSQL, an ISO 8601 string in UTC with milliseconds everywhere in the code
 * (`2026-01-31T00:00:00.000Z`), so that two instants compare as strings. spec: subscriptions-and-invoicing §0 Timestamps
 */
export class InstantType extends Type<string, string> {
  override convertToJSValue(value: string): string {
    return instantText(value);
  }
  override convertToDatabaseValue(value: string): string {
    return value;
  }
  override getColumnType(): string {
    return 'timestamptz';
  }
  override compareAsType(): string {
    return 'string';
  }
}

/** An exact decimal: `numeric` in PostgreSQL, a plain decimal string without padding in the code. */
export class NumericType extends Type<string, string> {
  override convertToJSValue(value: string): string {
    return decimalText(value);
  }
  override convertToDatabaseValue(value: string): string {
    return value;
  }
  override getColumnType(): string {
    return 'numeric';
  }
  override compareAsType(): string {
    return 'string';
  }
}

/** Any JSON, kept as its text so that no digit of a number is lost: `jsonb` in PostgreSQL, a JSON text in the code. */
export class JsonTextType extends Type<string, string> {
  override convertToJSValueSQL(key: string): string {
    return `${key}::text`;
  }
  override getColumnType(): string {
    return 'jsonb';
  }
  override compareAsType(): string {
    return 'string';
  }
}

/** PostgreSQL's text of a timestamptz (or a Date) as the one form instants have in the code. */
export function instantText(value: string | Date): string {
  return (
    value instanceof Date ? value : new Date(value.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'))
  ).toISOString();
}

/** PostgreSQL's text of a numeric without padding zeros: `1.500` is `1.5`, `-0` is `0`. */
export function decimalText(value: string | number): string {
  const text = String(value);
  const trimmed = text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  return trimmed === '-0' || trimmed === '' ? '0' : trimmed;
}

export const instant = () => p.type(InstantType);
export const numeric = () => p.type(NumericType);
export const jsonText = () => p.type(JsonTextType).defaultRaw(`'{}'`);
/** A jsonb map of string to string; `{}` when nothing was sent. */
export const metadata = () => p.json<Record<string, string>>().defaultRaw(`'{}'`);

/** The columns of every tenant-scoped record. `status` is the record status, not a lifecycle. spec: catalogue-and-metering §1.3 */
export const recordColumns = {
  id: p.text().primary(),
  tenantId: p.text(),
  environmentId: p.text(),
  status: p.text().default('published'),
  createdAt: instant(),
  createdBy: p.text().default(''),
  updatedAt: instant(),
  updatedBy: p.text().default(''),
};
