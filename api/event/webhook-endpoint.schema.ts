import { z } from 'zod';
import type { WebhookEndpoint } from '../../db/entities/event/webhook-endpoint.ts';
import { badField } from '../../db/rows/record.ts';
import { AddressRefused, checkedName, checkedUrl, type OutgoingPolicy } from '../../integrations/guarded-client.ts';
import type { EndpointChange, NewEndpoint } from '../../services/event/webhook/endpoint.ts';
import { webhookEventTypes } from '../../services/event/webhook/event-type.ts';
import type { EndpointStart } from '../../services/event/webhook/start-position.ts';
import { listOf, listQuery } from '../list.ts';
import {
  metadataInput,
  metadataOutput,
  recordOutput,
  timestampInput,
  timestampOutput,
  viewRecord,
} from '../scalars.schema.ts';
import { ownSecret } from './webhook-secret.schema.ts';

const maxUrlLength = 2_048;
const mostHeaders = 20;
/** Shown in place of a header's value, and taken as the value it has. */
const mask = '•••';

const url = z.string().max(maxUrlLength, `must have at most ${maxUrlLength} characters`);
const description = z.string().max(1_000);
const eventTypes = z
  .array(z.enum(webhookEventTypes))
  .max(webhookEventTypes.length)
  .transform((types) => [...new Set(types)].sort());
const headers = z.record(z.string(), z.string());
const onExhausted = z.enum(['skip', 'hold']);
const instant = timestampInput();
const start = z
  .custom<string>((value) => value === 'now' || value === 'beginning' || instant.safeParse(value).success, {
    message: 'must be now, beginning or an RFC 3339 timestamp with an offset, such as 2026-01-31T00:00:00Z',
  })
  .meta({ type: 'string', examples: ['now', 'beginning', '2026-01-31T00:00:00Z'] });
const longestPastMs = 30 * 24 * 3_600_000;
/** Requests per second; 0 for no limit. spec: platform §17.4 */
const rateLimit = z.int().min(0).max(1_000);

export const createEndpointBody = z
  .object({
    url,
    description: description.nullish(),
    event_types: eventTypes.nullish(),
    enabled: z.boolean().nullish(),
    headers: headers.nullish(),
    on_exhausted: onExhausted.nullish(),
    rate_limit: rateLimit.nullish(),
    metadata: metadataInput().nullish(),
    secret: ownSecret.nullish(),
    start: start.nullish(),
  })
  .meta({
    examples: [{ url: 'https://example.com/webhooks', event_types: ['invoice.update.finalized', 'payment.success'] }],
  });

export const updateEndpointBody = z
  .object({
    url: url.nullish(),
    description: description.nullish(),
    event_types: eventTypes.nullish(),
    enabled: z.boolean().nullish(),
    headers: headers.nullish(),
    on_exhausted: onExhausted.nullish(),
    rate_limit: rateLimit.nullish(),
    metadata: metadataInput().nullish(),
    resume_from: z.enum(['now']).nullish(),
  })
  .refine(({ enabled, resume_from }) => !resume_from || enabled, {
    path: ['resume_from'],
    message: 'needs enabled with true',
  })
  .meta({ examples: [{ enabled: false }] });

const endpointMembers = {
  ...recordOutput,
  url: z.string(),
  description: z.string(),
  event_types: z.array(z.string()),
  enabled: z.boolean(),
  disabled_reason: z.enum(['requested', 'gone', 'failing']).nullable(),
  disabled_at: timestampOutput().nullable(),
  disabled_answer: z.string().nullable(),
  disabled_failures: z.int().nullable(),
  headers: z.record(z.string(), z.string()),
  on_exhausted: onExhausted,
  rate_limit: z.int().nullable(),
  metadata: metadataOutput(),
};
export const webhookEndpoint = z.object(endpointMembers).meta({ id: 'WebhookEndpoint' });
/** The one answer with the secret besides that of its own operation. */
export const createdEndpoint = z
  .object({ ...endpointMembers, secret: z.string() })
  .meta({ id: 'CreateWebhookEndpointResponse' });
export const endpointListQuery = listQuery({});
export const endpointList = listOf(webhookEndpoint, 'ListWebhookEndpointsResponse');

/** A new endpoint as it was sent. Throws `validation_error` for its URL and headers. spec: platform §17.4 */
export async function newEndpoint(
  body: z.output<typeof createEndpointBody>,
  policy: OutgoingPolicy,
): Promise<NewEndpoint> {
  return {
    url: await safeUrl(body.url, policy),
    description: body.description ?? '',
    eventTypes: body.event_types ?? [],
    enabled: body.enabled ?? true,
    headers: readHeaders(body.headers ?? {}, {}),
    onExhausted: body.on_exhausted ?? 'skip',
    rateLimit: body.rate_limit || null,
    secret: body.secret ?? null,
    start: readStart(body.start ?? 'now'),
    metadata: body.metadata ?? {},
  };
}

/** Members an update changes; null leaves one as it is. Throws `validation_error` for URL and headers. spec: platform §17.4 */
export async function endpointChange(
  body: z.output<typeof updateEndpointBody>,
  policy: OutgoingPolicy,
): Promise<EndpointChange> {
  const {
    url: address,
    description,
    event_types,
    enabled,
    headers: sent,
    on_exhausted,
    rate_limit,
    metadata,
    resume_from,
  } = body;
  return {
    ...(typeof address === 'string' ? { url: await safeUrl(address, policy) } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    ...(event_types ? { eventTypes: event_types } : {}),
    ...(typeof enabled === 'boolean' ? { enabled } : {}),
    ...(on_exhausted ? { onExhausted: on_exhausted } : {}),
    ...(typeof rate_limit === 'number' ? { rateLimit: rate_limit || null } : {}),
    ...(sent ? { headers: (current) => readHeaders(sent, current) } : {}),
    ...(metadata ? { metadata } : {}),
    ...(resume_from ? { resumeFrom: resume_from } : {}),
  };
}

/** First events of a new endpoint; an instant is of the last 30 days of real time. design: people-and-events §B 14, 15 */
function readStart(start: string): EndpointStart {
  if (start === 'now' || start === 'beginning') return start;
  const from = instant.parse(start);
  const agoMs = Date.now() - Date.parse(from);
  if (agoMs < 0) throw badField('start', 'must not be later than now');
  if (agoMs > longestPastMs)
    throw badField('start', 'must be at most 30 days ago; beginning sends everything the feed has');
  return { from };
}

/** The URL as it was written, which may be asked now. spec: platform §17.5 URL safety */
async function safeUrl(text: string, policy: OutgoingPolicy): Promise<string> {
  try {
    const parsed = checkedUrl(text, policy);
    if (text.includes('#')) throw new AddressRefused('must not have a fragment');
    await checkedName(parsed, policy);
    return text;
  } catch (error) {
    if (!(error instanceof AddressRefused)) throw error;
    throw badField('url', error.message);
  }
}

const reserved =
  /^(host|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|cookie|user-agent|forwarded|content-.*|webhook-.*|svix-.*|proxy-.*|x-forwarded-.*)$/;

/** Headers with their names in lower case; a masked value is the one there is. */
function readHeaders(sent: Record<string, string>, current: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(sent).map(([name, value]) => [name.toLowerCase(), value] as const);
  if (entries.length > mostHeaders) throw badField('headers', `must be ${mostHeaders} at most`);
  const read: Record<string, string> = {};
  for (const [name, value] of entries) {
    const field = `headers.${name}`;
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,64}$/.test(name)) throw badField('headers', 'must have names of HTTP headers');
    if (reserved.test(name)) throw badField(field, 'is set by the sender; choose another name');
    if (Object.hasOwn(read, name)) throw badField(field, 'must be sent once');
    const kept = value === mask ? current[name] : value;
    if (kept === undefined) throw badField(field, 'has no value yet that could stay');
    if (!/^[\x21-\x7e]([\x20-\x7e]{0,4094}[\x21-\x7e])?$/.test(kept)) {
      throw badField(field, 'must be 1 to 4096 visible characters of ASCII without spaces at its ends');
    }
    read[name] = kept;
  }
  return read;
}

export function viewEndpoint(row: WebhookEndpoint): z.output<typeof webhookEndpoint> {
  return {
    ...viewRecord(row),
    url: row.url,
    description: row.description,
    event_types: row.eventTypes,
    enabled: row.enabled,
    disabled_reason: (row.disabledReason ?? null) as z.output<typeof webhookEndpoint>['disabled_reason'],
    disabled_at: row.disabledAt ?? null,
    disabled_answer: row.disabledAnswer ?? null,
    disabled_failures: row.disabledFailures ?? null,
    headers: Object.fromEntries(row.headerNames.map((name) => [name, mask])),
    on_exhausted: row.onExhausted as z.output<typeof onExhausted>,
    rate_limit: row.rateLimit ?? null,
    metadata: row.metadata,
  };
}
