import { z } from 'zod';
import { atStoredScale, canonicalDecimal } from './decimal.ts';

/** Present and neither empty, false, zero nor null. */
export function isGiven(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return false;
  if (Array.isArray(value)) return value.length > 0;
  if (JSON.isRawJSON(value)) return Number(value.rawJSON) !== 0;
  return typeof value === 'object' ? Object.keys(value).length > 0 : value !== 0;
}

/**
 * A decimal of a request: a JSON string or a JSON number, never through a float; the handler gets its canonical string
 * at the stored scale. spec: catalogue-and-metering §1.1 N1–N3
 *
 * Use as `amount: decimalInput()`, `quantity: decimalInput({ min: '0' }).nullish()`.
 */
export function decimalInput(bounds: { min?: '0'; above?: '0'; exactNumbers?: true } = {}) {
  return z
    .custom<string | number | RawJson>((value) => decimalOf(value) !== null, {
      message: 'must be a decimal, as a string or a number',
    })
    .refine((value) => bounds.exactNumbers === undefined || isExact(value), {
      message: `has more than ${exactDigits} significant digits as a number; send it as a string`,
    })
    .meta({ type: ['string', 'number'], format: 'decimal', examples: ['12.50'] })
    .transform((value) => atStoredScale(decimalOf(value) ?? '0'))
    .refine((text) => bounds.min === undefined || !text.startsWith('-'), { message: 'must not be negative' })
    .refine((text) => bounds.above === undefined || (!text.startsWith('-') && text !== '0'), {
      message: 'must be greater than 0',
    });
}

/** The usage amount that triggers an intermediate invoice: 0 or more, or empty for none of its own. spec: interface, §2.14.1 */
export function thresholdInput() {
  return z
    .custom<string | number | RawJson>((value) => value === '' || decimalOf(value) !== null, {
      message: 'must be a decimal, as a string or a number, or empty',
    })
    .meta({ type: ['string', 'number'], format: 'decimal', examples: ['100.00'] })
    .transform((value) => (value === '' ? '' : atStoredScale(decimalOf(value) ?? '0')))
    .refine((text) => !text.startsWith('-'), { message: 'must not be negative' })
    .nullish();
}

/** Digits that a JSON number keeps wherever it is read. */
const exactDigits = 15;

function isExact(value: string | number | RawJson): boolean {
  if (typeof value === 'string') return true;
  const digits = (decimalOf(value) ?? '0').replace(/^-?0*\.?0*|\./g, '');
  return digits.replace(/0+$/, '').length <= exactDigits;
}

function decimalOf(value: unknown): string | null {
  if (typeof value === 'string') return canonicalDecimal(value.trim());
  if (typeof value === 'number') return canonicalDecimal(String(value));
  return JSON.isRawJSON(value) ? canonicalDecimal(value.rawJSON) : null;
}

/** A decimal of a response. spec: platform §1.3 */
export const decimalOutput = () => z.string().meta({ format: 'decimal', examples: ['12.5'] });

/** A raw JSON number made by `jsonNumber`, for the few responses that carry numbers. */
export const numberOutput = () => z.custom<RawJson>((value) => JSON.isRawJSON(value)).meta({ type: 'number' });

/** A number or a string, as `decimalFormat` of the environment makes it. spec: decision 42 */
export const formattedOutput = () =>
  z
    .custom<RawJson | string>((value) => JSON.isRawJSON(value) || typeof value === 'string')
    .meta({ type: ['number', 'string'], format: 'decimal' });

const offsetDateTime = z.iso.datetime({ offset: true });

/** An instant of a request, RFC 3339 with its offset; the handler gets UTC with milliseconds. spec: platform §1.3 */
export function timestampInput() {
  return z
    .custom<string>((value) => typeof value === 'string' && instantOf(value) !== null, {
      message: 'must be an RFC 3339 timestamp with an offset, such as 2026-01-31T00:00:00Z',
    })
    .meta({ type: 'string', format: 'date-time', examples: ['2026-01-31T00:00:00Z'] })
    .transform((text) => instantOf(text) ?? text);
}

function instantOf(text: string): string | null {
  const timestamp = text.toUpperCase();
  if (text.length > 40 || !offsetDateTime.safeParse(timestamp).success) return null;
  const milliseconds = Date.parse(timestamp);
  return Number.isNaN(milliseconds) ? null : new Date(milliseconds).toISOString();
}

/** An instant of a response. */
export const timestampOutput = () => z.string().meta({ format: 'date-time', examples: ['2026-01-31T00:00:00.000Z'] });

/** A map of string to string. spec: platform §1.3 */
export function metadataInput() {
  return z
    .record(z.string(), z.string())
    .refine((map) => !Object.hasOwn(map, ''), { message: 'must not contain an empty key' })
    .meta({ examples: [{ team: 'growth' }] });
}

export const metadataOutput = () => z.record(z.string(), z.string());

/** A three-letter currency, in any case; the handler gets it lower case. spec: platform §1.3 */
export function currencyInput() {
  return z
    .string()
    .regex(/^[A-Za-z]{3}$/, 'must be a currency of three letters, such as usd')
    .meta({ examples: ['usd'] })
    .transform((text) => text.toLowerCase());
}

/** An IANA time zone. spec: platform §1.3 */
export function timezoneInput() {
  return z
    .string()
    .refine(isTimezone, { message: 'must be an IANA time zone, such as Europe/Berlin' })
    .meta({ examples: ['Europe/Berlin'] });
}

function isTimezone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** `true`, `false`, `1` or `0` of a query string. spec: platform §1.3 */
export function booleanQuery() {
  return z.enum(['true', 'false', '1', '0']).transform((text) => text === 'true' || text === '1');
}

/** Ids of a query string: a repeated key or a comma-separated value. spec: platform §1.3 */
export function idListQuery() {
  return z
    .union([z.string(), z.array(z.string())])
    .transform((value) => [value].flat().flatMap((text) => text.split(',')))
    .refine((ids) => ids.every((id) => id !== '' && id.length <= 255), { message: 'must be ids, none empty' });
}

/** Ids of a search body; an empty array restricts nothing. spec: platform §1.5, catalogue-and-metering §2.3 */
export const idListInput = () => z.array(z.string().min(1).max(255)).max(1000);

/** The body of an operation that documents none; the OpenAPI document leaves it out. */
export const noBody = z.object({}).nullish();

/** The path parameters of `/…/{id}`. */
export const idParams = z.object({ id: z.string().min(1).max(255) });

/** The body of an operation that needs none: nothing, `{}` or an object of empty members. spec: platform §1.1, decision 46 */
export const optionalBody = z.object({}).nullish();

/** The response of a deletion with 204. */
export const noContent = z.undefined().describe('Done; there is no body.');

/** The keys every record of an environment has. */
export const recordOutput = {
  id: z.string(),
  tenant_id: z.string(),
  environment_id: z.string(),
  status: z.enum(['published', 'archived', 'deleted']),
  created_at: timestampOutput(),
  created_by: z.string(),
  updated_at: timestampOutput(),
  updated_by: z.string(),
};

interface RecordRow {
  id: string;
  tenantId: string;
  environmentId: string;
  status: string;
  createdAt: string;
  createdBy: string;
  updatedAt: string;
  updatedBy: string;
}

/** The wire form of `recordColumns`. */
export function viewRecord(row: RecordRow) {
  return {
    id: row.id,
    tenant_id: row.tenantId,
    environment_id: row.environmentId,
    status: row.status as 'published' | 'archived' | 'deleted',
    created_at: row.createdAt,
    created_by: row.createdBy,
    updated_at: row.updatedAt,
    updated_by: row.updatedBy,
  };
}

/** An instant without its milliseconds, as tenants, environments and connections show it. spec: platform §1.3 */
export function wholeSeconds(instant: string): string {
  return instant.replace(/\.\d+Z$/, 'Z');
}
