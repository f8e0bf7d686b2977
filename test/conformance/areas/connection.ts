import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import type { Scope } from '../../../db/scope.ts';
import { signedNotification } from '../../../dev/provider-fakes/stripe/notification.ts';
import { type AreaCalls, type Conversation, present } from '../conversation.ts';

/** Connections to providers, as the published client knows them. */
export function connectionCalls({ client, api }: Conversation, scope: Scope): Record<string, AreaCalls> {
  let connectionId = '';
  const secrets: AreaCalls = {
    async createOrUpdateIntegration() {
      const credentials = { publishable_key: 'pk_test_1', secret_key: 'sk_test_1', webhook_secret: 'whsec_1' };
      const body = { name: 'Stripe', provider: 'stripe', credentials } as const;
      const secret = await client.integrations.createOrUpdateIntegration('stripe', body);
      expect(secret).toMatchObject({ name: 'Stripe', provider: 'stripe', type: 'integration', status: 'published' });
      connectionId = present(secret.id);
      const again = await client.integrations.createOrUpdateIntegration('stripe', { ...body, name: 'Renamed' });
      expect(again).toMatchObject({ id: connectionId, name: 'Renamed' });
      const { body: shown } = await api('GET', `/connections/${connectionId}`);
      expect(shown).toMatchObject({ provider_type: 'stripe', name: 'Renamed' });
    },
    async getIntegration() {
      expect(await client.integrations.getIntegration('stripe')).toMatchObject({ id: connectionId });
    },
    async listLinkedIntegrations() {
      expect((await client.integrations.listLinkedIntegrations()).providers).toEqual(['stripe']);
    },
    async handleStripeWebhook() {
      // The client sends no body, which is taken in and says nothing.
      const { headers } = signedNotification('', 'whsec_1');
      const { tenantId, environmentId } = scope;
      const answer = await client.webhooks.handleStripeWebhook(tenantId, environmentId, headers['stripe-signature']);
      expect(answer).toEqual({ status: 'success', message: 'stored' });
    },
    async handleRazorpayWebhook() {
      const webhook_secret = 'rwh_1';
      const encrypted_secret_data = { key_id: 'rzp_test_1', secret_key: 'secret_1', webhook_secret };
      const connection = { name: 'Razorpay', provider_type: 'razorpay', encrypted_secret_data };
      const { body } = await api('POST', '/connections', connection);
      const { tenantId, environmentId } = scope;
      const signature = createHmac('sha256', webhook_secret).update('').digest('hex');
      const answer = await client.webhooks.handleRazorpayWebhook(tenantId, environmentId, signature);
      expect(answer).toEqual({ status: 'success', message: 'stored' });
      await api('DELETE', `/connections/${body.id}`);
    },
    async handleMoyasarWebhook() {
      const encrypted_secret_data = { secret_key: 'sk_test_1', webhook_secret: 'mwh_1' };
      const connection = { name: 'Moyasar', provider_type: 'moyasar', encrypted_secret_data };
      const { body } = await api('POST', '/connections', connection);
      // The client sends no body, in which Moyasar's secret would be.
      const { tenantId, environmentId } = scope;
      const called = client.webhooks.handleMoyasarWebhook(tenantId, environmentId);
      await expect(called).rejects.toMatchObject({ statusCode: 401 });
      await api('DELETE', `/connections/${body.id}`);
    },
    async handleNomodWebhook() {
      const encrypted_secret_data = { api_key: 'sk_test_1', webhook_secret: 'whsec_bm9tb2Q=' };
      const connection = { name: 'Nomod', provider_type: 'nomod', encrypted_secret_data };
      const { body } = await api('POST', '/connections', connection);
      // The client sends no headers, in which Nomod's signature would be.
      const { tenantId, environmentId } = scope;
      const called = client.webhooks.handleNomodWebhook(tenantId, environmentId);
      await expect(called).rejects.toMatchObject({ statusCode: 401 });
      await api('DELETE', `/connections/${body.id}`);
    },
    async handleChargebeeWebhook() {
      const webhook = { webhook_username: 'hook', webhook_password: 'one' };
      const encrypted_secret_data = { site: 'acme-test', api_key: 'test_1', ...webhook };
      const connection = { name: 'Chargebee', provider_type: 'chargebee', encrypted_secret_data };
      const { body } = await api('POST', '/connections', connection);
      // The client sends no user and password.
      const { tenantId, environmentId } = scope;
      const called = client.webhooks.handleChargebeeWebhook(tenantId, environmentId);
      await expect(called).rejects.toMatchObject({ statusCode: 401 });
      await api('DELETE', `/connections/${body.id}`);
    },
    async handleHubspotWebhook() {
      const encrypted_secret_data = { access_token: 'pat_1', client_secret: 'app_1' };
      const connection = { name: 'HubSpot', provider_type: 'hubspot', encrypted_secret_data };
      const { body } = await api('POST', '/connections', connection);
      // The client sends neither a body nor the time that is signed.
      const { tenantId, environmentId } = scope;
      const signature = createHmac('sha256', 'app_1').update('').digest('base64');
      const called = client.webhooks.handleHubspotWebhook(tenantId, environmentId, signature);
      await expect(called).rejects.toMatchObject({ statusCode: 401 });
      await api('DELETE', `/connections/${body.id}`);
    },
    async handleQuickbooksWebhook() {
      const app = { client_id: 'app_1', client_secret: 'secret_1', realm_id: '1', environment: 'sandbox' };
      const encrypted_secret_data = {
        ...{ ...app, access_token: 'access_1', refresh_token: 'refresh_1' },
        webhook_verifier_token: 'token_1',
      };
      const connection = { name: 'QuickBooks', provider_type: 'quickbooks', encrypted_secret_data };
      const { body } = await api('POST', '/connections', connection);
      // The client sends no body, which is taken in and says nothing.
      const { tenantId, environmentId } = scope;
      const signature = createHmac('sha256', 'token_1').update('').digest('base64');
      const answer = await client.webhooks.handleQuickbooksWebhook(tenantId, environmentId, signature);
      expect(answer).toEqual({ status: 'success', message: 'stored' });
      await api('DELETE', `/connections/${body.id}`);
    },
    async deleteIntegration() {
      await client.integrations.deleteIntegration(connectionId);
      expect((await client.integrations.listLinkedIntegrations()).providers).toEqual([]);
    },
  };
  return { 'integration secrets': secrets };
}
