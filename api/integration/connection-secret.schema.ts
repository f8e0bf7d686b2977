import { z } from 'zod';
import { badField } from '../../db/rows/record.ts';
import type { Provider } from '../../services/integration/connection-config.ts';
import type { ConnectionSecrets } from '../../services/integration/connection-secret.ts';
import { parseJson } from '../plugins/json-body.ts';
import { firstIssue } from '../validation.ts';

const maxSecretLength = 8_192;
const maxFileLength = 65_536;

const required = (max = maxSecretLength) =>
  z
    .string()
    .max(max, `must have at most ${max} characters`)
    .refine((text) => text.trim() !== '', 'must not be empty');
const optional = () => required().nullish();

const webhookSecret = { webhook_secret: optional() };
const client = { client_id: required(), client_secret: required() };

/** The secret members of each provider. spec: platform §13 */
const members: Record<Provider, z.ZodObject> = {
  stripe: z.object({ publishable_key: required(), secret_key: required(), ...webhookSecret, account_id: optional() }),
  s3: z.object({
    aws_access_key_id: required(),
    aws_secret_access_key: required(),
    aws_session_token: optional(),
  }),
  hubspot: z.object({ access_token: required(), client_secret: required(), app_id: optional() }),
  razorpay: z.object({ key_id: required(), secret_key: required(), ...webhookSecret }),
  chargebee: z.object({
    site: required().regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i, 'must be the name of the site alone, as acme-test'),
    api_key: required(),
    webhook_username: required().regex(/^[^:]*$/, 'must have no colon, which ends a user name in HTTP'),
    webhook_password: required(),
  }),
  quickbooks: z
    .object({
      ...client,
      realm_id: required(),
      environment: z.enum(['sandbox', 'production']),
      auth_code: optional(),
      redirect_uri: optional(),
      access_token: optional(),
      refresh_token: optional(),
      webhook_verifier_token: optional(),
      income_account_id: required()
        .nullish()
        .transform((id) => id ?? '79'),
    })
    .superRefine(requireAuthorization),
  zoho_books: z.object({
    ...client,
    refresh_token: required(),
    organization_id: required(),
    accounts_server: optional().refine(isOfZoho, 'must be an address of Zoho, as https://accounts.zoho.eu'),
    api_domain: optional().refine(isOfZoho, 'must be an address of Zoho, as https://www.zohoapis.eu'),
    ...webhookSecret,
  }),
  nomod: z.object({ api_key: required(), ...webhookSecret }),
  moyasar: z.object({ secret_key: required(), publishable_key: optional(), ...webhookSecret }),
  paddle: z.object({ api_key: required(), ...webhookSecret, client_side_token: optional() }),
  whop: z.object({ api_key: required(), company_id: required(), product_id: optional(), ...webhookSecret }),
  tabs: z.object({ api_key: required() }),
  aws_marketplace: z.object({ role_arn: required(), external_id: required() }),
  gcp_marketplace: z.object({ credentials_json: required(maxFileLength).superRefine(requireGoogleAccount) }),
  azure_marketplace: z.object({ tenant_id: required(), ...client }),
};

/** What verifies webhooks and may be exchanged without the rest. spec: platform §13 PUT */
const webhookMembers = new Set(['webhook_secret', 'webhook_username', 'webhook_password', 'webhook_verifier_token']);

/** Secrets as they were sent: flat, or under the name of the provider. */
export const secretsInput = () => z.record(z.string(), z.unknown());

interface SentSecrets {
  provider: Provider;
  /** The wire path of the members, for messages. */
  path: string;
  sent: Record<string, unknown>;
}

/**
 * The secrets of a provider, checked whole. `field` is where they were sent. Throws `validation_error` that names the member and
 * never shows a value. spec: platform §13
 */
export function readSecrets(
  provider: Provider,
  data: Record<string, unknown> | null | undefined,
  field = 'encrypted_secret_data',
): ConnectionSecrets {
  if (!data) throw badField(field, `is required; ${provider} takes ${membersOf(provider)}`);
  return complete(membersSent(provider, data, field));
}

/**
 * The secrets after a change: where only what verifies webhooks was sent, the rest stays (null takes an optional one away); else
 * what was sent is all there is. spec: platform §13 PUT
 */
export function changedSecrets(
  provider: Provider,
  data: Record<string, unknown>,
  current: () => ConnectionSecrets,
  field = 'encrypted_secret_data',
): ConnectionSecrets {
  const sent = membersSent(provider, data, field);
  const names = Object.keys(sent.sent);
  const isAboutWebhooks = names.length > 0 && names.every((name) => webhookMembers.has(name));
  return complete(isAboutWebhooks ? { ...sent, sent: { ...current(), ...sent.sent } } : sent);
}

function membersSent(provider: Provider, data: Record<string, unknown>, field: string): SentSecrets {
  const { [provider]: nested, ...flat } = data;
  if (nested === undefined || nested === null) return { provider, path: field, sent: flat };
  const path = `${field}.${provider}`;
  if (typeof nested !== 'object' || Array.isArray(nested)) throw badField(path, 'must be an object of secrets');
  const [beside] = Object.keys(flat).filter((name) => flat[name] !== null);
  if (beside !== undefined) {
    throw badField(`${field}.${beside}`, `must not stand beside ${path}; send the secrets flat or nested, not both`);
  }
  return { provider, path, sent: nested as Record<string, unknown> };
}

function complete({ provider, path, sent }: SentSecrets): ConnectionSecrets {
  const schema = members[provider];
  const given = Object.entries(sent).filter(([, value]) => value !== null);
  for (const [name] of given) {
    if (!Object.hasOwn(schema.shape, name)) {
      throw badField(`${path}.${name}`, `is no secret of ${provider}; it takes ${membersOf(provider)}`);
    }
  }
  const result = schema.safeParse(Object.fromEntries(given));
  if (!result.success) {
    const { field, reason } = firstIssue(result.error.issues);
    throw badField(`${path}.${field}`, reason);
  }
  const kept = Object.entries(result.data).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as ConnectionSecrets;
}

function membersOf(provider: Provider): string {
  return Object.keys(members[provider].shape).join(', ');
}

type QuickBooks = Partial<
  Record<'auth_code' | 'redirect_uri' | 'access_token' | 'refresh_token', string | null | undefined>
>;

function requireAuthorization(secrets: QuickBooks, context: z.RefinementCtx): void {
  const pairs = [
    ['access_token', 'refresh_token'],
    ['auth_code', 'redirect_uri'],
  ] as const;
  if (pairs.some((pair) => pair.every((name) => secrets[name]))) return;
  const begun = pairs.find((pair) => pair.some((name) => secrets[name])) ?? pairs[0];
  const absent = begun.find((name) => !secrets[name]) ?? begun[0];
  const message = 'is required: send access_token and refresh_token, or auth_code and redirect_uri';
  context.addIssue({ code: 'custom', path: [absent], message });
}

const zohoDomain = /(^|\.)(zoho(apis)?\.(com|eu|in|com\.au|jp|sa|uk|com\.cn)|zoho(cloud|apis)\.ca)$/;

/** True for nothing, and for an address of Zoho without anything behind its host. */
function isOfZoho(text: string | null | undefined): boolean {
  if (!text) return true;
  const address = text.includes('://') ? text : `https://${text}`;
  if (!URL.canParse(address)) return false;
  const url = new URL(address);
  const isBare = url.origin === url.href.replace(/\/$/, '') && url.port === '';
  return url.protocol === 'https:' && isBare && zohoDomain.test(url.hostname);
}

const googleHosts = new Set(['sts.googleapis.com', 'iamcredentials.googleapis.com']);

/** A file of workload identity federation whose tokens come from Google alone. spec: platform §13 */
function requireGoogleAccount(text: string, context: z.RefinementCtx): void {
  const refuseFile = (message: string) => context.addIssue({ code: 'custom', message });
  const file = asObject(text);
  if (file?.type !== 'external_account') {
    refuseFile('must be the text of a JSON file of type external_account (workload identity federation)');
    return;
  }
  if (!file.token_url) refuseFile('must have a token_url');
  for (const name of ['token_url', 'token_info_url', 'service_account_impersonation_url']) {
    if (file[name] !== undefined && !isOfGoogle(file[name])) {
      refuseFile(`must have a ${name} at ${[...googleHosts].join(' or ')}, with https`);
    }
  }
  if ((file.credential_source as Record<string, unknown> | undefined)?.executable !== undefined) {
    refuseFile('must not name a program in credential_source.executable; nothing is run for it');
  }
}

function asObject(text: string): Record<string, unknown> | null {
  try {
    const value = parseJson(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

function isOfGoogle(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false;
  const url = new URL(value);
  const hasCredentials = url.username !== '' || url.password !== '';
  return url.protocol === 'https:' && url.port === '' && !hasCredentials && googleHosts.has(url.hostname);
}
