import type { Api } from '../../support/app.ts';
import { created } from '../../support/billing.ts';

const priceTerms = {
  entity_type: 'ADDON',
  type: 'FIXED',
  billing_model: 'FLAT_FEE',
  billing_period: 'MONTHLY',
  invoice_cadence: 'ADVANCE',
  currency: 'usd',
  start_date: '2020-01-01T00:00:00Z',
};

/** An add-on with a price for each of the given terms; 20 a month in advance where nothing else is said. */
export async function addonWith(api: Api, prices: object[] = [{}], type = 'multiple_instance'): Promise<string> {
  const key = Math.random().toString(36).slice(2);
  const { id } = await created(api, '/addons', { name: `Add-on ${key}`, lookup_key: key, type });
  for (const price of prices) {
    await created(api, '/prices', { ...priceTerms, amount: '20', entity_id: id, ...price });
  }
  return id;
}

export interface AssociationView {
  id: string;
  addon_id: string;
  entity_id: string;
  addon_status: string;
  cadence: string;
  quantity: number;
  start_date: string;
  end_date: string | null;
  cancelled_at: string | null;
  metadata: Record<string, unknown>;
  invoice: { id: string; total: string; invoice_type: string; billing_reason: string } | null;
}

/** Attaches an add-on and gives the association. */
export function attach(api: Api, subscriptionId: string, addonId: string, fields: object = {}) {
  return created<AssociationView>(api, '/subscriptions/addon', {
    subscription_id: subscriptionId,
    addon_id: addonId,
    ...fields,
  });
}

/** Every attachment a subscription has or had. */
export async function associationsOf(api: Api, subscriptionId: string): Promise<AssociationView[]> {
  return (await api<AssociationView[]>('GET', `/subscriptions/${subscriptionId}/addons/associations`)).body;
}

/** Asks to detach one; the answer may be a refusal. */
export function detach(api: Api, body: object) {
  return api('DELETE', '/subscriptions/addon', body);
}
