import type { TestApi } from '../../support/api.ts';

/** For each provider the least and the most it takes. Every value is told from everything else by its ending. */
export const examples: Record<string, { least: Record<string, string>; more: Record<string, string> }> = {
  stripe: {
    least: { publishable_key: 'pk_planted', secret_key: 'sk_planted' },
    more: { webhook_secret: 'whsec_planted', account_id: 'acct_planted' },
  },
  s3: {
    least: { aws_access_key_id: 'AKIA_planted', aws_secret_access_key: 'aws_planted' },
    more: { aws_session_token: 'session_planted' },
  },
  hubspot: { least: { access_token: 'pat_planted', client_secret: 'hub_planted' }, more: { app_id: 'app_planted' } },
  razorpay: { least: { key_id: 'rzp_planted', secret_key: 'rsk_planted' }, more: { webhook_secret: 'rwh_planted' } },
  chargebee: {
    least: {
      site: 'acme-planted',
      api_key: 'cb_planted',
      webhook_username: 'cbu_planted',
      webhook_password: 'cbp_planted',
    },
    more: {},
  },
  quickbooks: {
    least: {
      client_id: 'qbi_planted',
      client_secret: 'qbs_planted',
      realm_id: 'qbr_planted',
      environment: 'sandbox',
      access_token: 'qba_planted',
      refresh_token: 'qbf_planted',
    },
    more: { webhook_verifier_token: 'qbw_planted', income_account_id: '80' },
  },
  zoho_books: {
    least: {
      client_id: 'zi_planted',
      client_secret: 'zs_planted',
      refresh_token: 'zr_planted',
      organization_id: 'zo_planted',
    },
    more: {
      accounts_server: 'https://accounts.zoho.eu',
      api_domain: 'https://www.zohoapis.eu',
      webhook_secret: 'zw_planted',
    },
  },
  nomod: { least: { api_key: 'nomod_planted' }, more: { webhook_secret: 'nwh_planted' } },
  moyasar: {
    least: { secret_key: 'moy_planted' },
    more: { publishable_key: 'moyp_planted', webhook_secret: 'moyw_planted' },
  },
  paddle: {
    least: { api_key: 'pdl_planted' },
    more: { webhook_secret: 'pdlw_planted', client_side_token: 'pdlc_planted' },
  },
  whop: {
    least: { api_key: 'whop_planted', company_id: 'biz_planted' },
    more: { product_id: 'prod_planted', webhook_secret: 'whopw_planted' },
  },
  tabs: { least: { api_key: 'tabs_planted' }, more: {} },
  gcp_marketplace: { least: { credentials_json: googleAccount() }, more: {} },
  azure_marketplace: {
    least: { tenant_id: 'azt_planted', client_id: 'azc_planted', client_secret: 'azs_planted' },
    more: {},
  },
};

/** A file of workload identity federation; `changes` replaces members. */
export function googleAccount(changes: Record<string, unknown> = {}): string {
  return JSON.stringify({
    type: 'external_account',
    audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/planted/providers/planted',
    subject_token_type: 'urn:ietf:params:aws:token-type:aws4_request',
    token_url: 'https://sts.googleapis.com/v1/token',
    service_account_impersonation_url:
      'https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/planted:generateAccessToken',
    credential_source: { environment_id: 'aws1' },
    ...changes,
  });
}

/** Deletes every connection of the environment. */
export async function removeAll({ call }: Pick<TestApi, 'call'>): Promise<void> {
  const { body } = await call('GET', '/v1/connections?limit=1000');
  for (const { id } of body.connections as { id: string }[]) await call('DELETE', `/v1/connections/${id}`);
}
