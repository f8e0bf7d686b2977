import { z } from 'zod';
import { hubspotNotifications } from './hubspot/notification.ts';
import { objectMember } from './notification-json.ts';
import { inbound, outbound, type Provider } from './provider.ts';
import { optionalSecret, requiredSecret, webhookSecret } from './provider-secret.ts';
import { quickbooksNotifications } from './quickbooks/notification.ts';
import { zohoBooksNotifications } from './zoho-books/notification.ts';

const maxFileLength = 65_536;
const client = () => ({ client_id: requiredSecret(), client_secret: requiredSecret() });

/** Files of exports go there. */
export const s3: Provider = {
  name: 's3',
  title: 'S3',
  secrets: z.object({
    aws_access_key_id: requiredSecret(),
    aws_secret_access_key: requiredSecret(),
    aws_session_token: optionalSecret(),
  }),
};

export const hubspot: Provider = {
  name: 'hubspot',
  title: 'HubSpot',
  secrets: z.object({ access_token: requiredSecret(), client_secret: requiredSecret(), app_id: optionalSecret() }),
  notifications: hubspotNotifications,
  exchanges: { customer: inbound, invoice: outbound },
};

export const quickbooks: Provider = {
  name: 'quickbooks',
  title: 'QuickBooks',
  secrets: z
    .object({
      ...client(),
      realm_id: requiredSecret(),
      environment: z.enum(['sandbox', 'production']),
      auth_code: optionalSecret(),
      redirect_uri: optionalSecret(),
      access_token: optionalSecret(),
      refresh_token: optionalSecret(),
      webhook_verifier_token: optionalSecret(),
      income_account_id: requiredSecret()
        .nullish()
        .transform((id) => id ?? '79'),
    })
    .superRefine(requireAuthorization),
  notifications: quickbooksNotifications,
  exchanges: { customer: outbound, invoice: outbound },
};

export const zohoBooks: Provider = {
  name: 'zoho_books',
  title: 'Zoho Books',
  secrets: z.object({
    ...client(),
    refresh_token: requiredSecret(),
    organization_id: requiredSecret(),
    accounts_server: optionalSecret().refine(isOfZoho, 'must be an address of Zoho, as https://accounts.zoho.eu'),
    api_domain: optionalSecret().refine(isOfZoho, 'must be an address of Zoho, as https://www.zohoapis.eu'),
    ...webhookSecret(),
  }),
  notifications: zohoBooksNotifications,
  exchanges: { invoice: outbound },
};

export const tabs: Provider = {
  name: 'tabs',
  title: 'Tabs',
  secrets: z.object({ api_key: requiredSecret() }),
  exchanges: { customer: outbound, invoice: outbound },
};

export const awsMarketplace: Provider = {
  name: 'aws_marketplace',
  title: 'AWS Marketplace',
  secrets: z.object({ role_arn: requiredSecret(), external_id: requiredSecret() }),
};

export const gcpMarketplace: Provider = {
  name: 'gcp_marketplace',
  title: 'Google Cloud Marketplace',
  secrets: z.object({ credentials_json: requiredSecret(maxFileLength).superRefine(requireGoogleAccount) }),
};

export const azureMarketplace: Provider = {
  name: 'azure_marketplace',
  title: 'Azure Marketplace',
  secrets: z.object({ tenant_id: requiredSecret(), ...client() }),
};

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
  const file = fileOf(text);
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

function isOfGoogle(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false;
  const url = new URL(value);
  const hasCredentials = url.username !== '' || url.password !== '';
  return url.protocol === 'https:' && url.port === '' && !hasCredentials && googleHosts.has(url.hostname);
}

function fileOf(text: string): Readonly<Record<string, unknown>> | null {
  try {
    return objectMember(JSON.parse(text));
  } catch {
    return null;
  }
}
