import { expect } from 'vitest';
import { brokenRules, type Syntax, schemaErrors } from '../../../e-invoice/published.ts';
import { clockedCustomer, created, type TestPlatform } from '../../../support/billing.ts';
import type { Wire } from '../invoice.fixture.ts';

export const textOf = (file: string, element: string) => new RegExp(`<${element}(?: [^>]*)?>([^<]*)<`).exec(file)?.[1];

const address = { address_line1: 'Hauptstraße 1', address_postal_code: '10115', address_city: 'Berlin' };
const sellerDetails = {
  email: 'finance@acme.example',
  phone: '+49 30 1234',
  address: { ...address, address_country: 'de' },
};

/** Makes invoices of a known seller, and reads their e-invoices. */
export function eInvoices({ api, app, base }: Pick<TestPlatform, 'api' | 'app' | 'base'>) {
  const setting = (value: object) => api('PUT', '/settings/e_invoice_config', { value });

  const seller = (billing_details: object) =>
    api('PUT', '/tenants/update', { name: 'Acme Software GmbH', billing_details });

  const sellerIsKnown = async () => {
    await seller(sellerDetails);
    await setting({
      vat_id: 'DE123456789',
      registration_id: 'HRB 1',
      iban: 'DE75512108001245126199',
      bic: 'AAAADEFFXXX',
    });
  };

  const customerOf = async (fields: Record<string, unknown> = {}): Promise<string> => {
    const { customerId } = await clockedCustomer(api, { frozenTime: '2026-02-01T00:00:00Z' });
    const about = { name: 'Beispiel AG', address_country: 'AT', address_city: 'Wien', email: 'a@b.example', ...fields };
    expect((await api('PUT', `/customers/${customerId}`, about)).status).toBe(200);
    return customerId;
  };

  let codes = 0;
  const rate = async (percentage: string, tax_behavior = 'exclusive', currency = 'eur'): Promise<object> => {
    codes += 1;
    const code = `vat_${codes}`;
    await created(api, '/taxes/rates', { name: `VAT ${codes}`, code, percentage_value: percentage });
    return { tax_rate_code: code, tax_behavior, currency };
  };

  const coupon = async (fields: object): Promise<string> => {
    codes += 1;
    const made = { name: 'Welcome', coupon_code: `C${codes}`, cadence: 'once', ...fields };
    return (await created(api, '/coupons', made)).id;
  };

  /** A one-off invoice of these line amounts, finalized at once. */
  const invoice = async (amounts: string[], more: Record<string, unknown> = {}): Promise<Wire> => {
    const sum = String(amounts.reduce((total, amount) => total + Math.round(Number(amount) * 1000), 0) / 1000);
    return created<Wire>(api, '/invoices', {
      customer_id: more.customer_id ?? (await customerOf()),
      currency: 'eur',
      subtotal: sum,
      total: sum,
      amount_due: sum,
      line_items: amounts.map((amount, index) => ({
        display_name: `Line ${index + 1}`,
        quantity: String(index * 3 + 1),
        amount,
        period_start: '2026-01-01T00:00:00Z',
        period_end: '2026-02-01T00:00:00Z',
      })),
      period_start: '2026-01-01T00:00:00Z',
      period_end: '2026-02-01T00:00:00Z',
      ...more,
    });
  };

  const read = (path: string) =>
    app.inject({ method: 'GET', url: `/v1${path}`, headers: { 'x-api-key': base.apiKey } });

  /** The file of a document, after the published schemas and rules of its profile found nothing. */
  const fileOf = async (path: string, syntax: Syntax, profile?: 'xrechnung'): Promise<string> => {
    const query = `format=${syntax === 'cii' ? 'cii' : 'ubl'}${profile ? `&profile=${profile}` : ''}`;
    const answer = await read(`${path}/e-invoice?${query}`);
    expect(answer.statusCode, answer.body).toBe(200);
    expect(await schemaErrors(answer.body, syntax)).toEqual([]);
    expect(brokenRules(answer.body, syntax, profile)).toEqual([]);
    return answer.body;
  };

  return { seller, sellerIsKnown, setting, customerOf, rate, coupon, invoice, read, fileOf };
}
