import { beforeAll, describe, expect, it } from 'vitest';
import { created, testPlatform } from '../../../support/billing.ts';
import type { Wire } from '../invoice.fixture.ts';
import { eInvoices, textOf } from './e-invoice.fixture.ts';

const platform = await testPlatform();
const { api } = platform;
const { seller, sellerIsKnown, setting, customerOf, rate, coupon, invoice, fileOf } = eInvoices(platform);

const authority = {
  name: 'Stadt Beispiel',
  address_line1: 'Rathausplatz 1',
  address_postal_code: '80331',
  address_city: 'München',
  address_country: 'DE',
  email: 'rechnung@stadt.example',
  metadata: { buyer_reference: '04011000-1234512345-06' },
};

beforeAll(async () => {
  await sellerIsKnown();
  await setting({ contact_name: 'Billing team' });
});

/** Both files of a document, valid by the core and by XRechnung. */
async function files(path: string, ubl: 'ubl' | 'ubl credit note' = 'ubl') {
  return { ubl: await fileOf(path, ubl, 'xrechnung'), cii: await fileOf(path, 'cii', 'xrechnung') };
}

describe('an invoice to a public authority as XRechnung', () => {
  it('is valid in both syntaxes, for whoever has the Leitweg-ID, and says how and whom to pay', async () => {
    const made = await invoice(['100.10', '33.33', '-5'], {
      customer_id: await customerOf(authority),
      tax_rate_overrides: [await rate('19')],
      coupons: [await coupon({ type: 'percentage', percentage_off: '10' })],
    });
    const { ubl, cii } = await files(`/invoices/${made.id}`);
    expect(textOf(ubl, 'cbc:CustomizationID')).toContain('xrechnung_3.0');
    expect([textOf(ubl, 'cbc:BuyerReference'), textOf(cii, 'ram:BuyerReference')]).toEqual(
      Array(2).fill('04011000-1234512345-06'),
    );
    expect([textOf(ubl, 'cbc:PaymentMeansCode'), textOf(cii, 'ram:IBANID')]).toEqual(['30', 'DE75512108001245126199']);
    expect([textOf(ubl, 'cbc:Name'), textOf(cii, 'ram:PersonName')]).toEqual(Array(2).fill('Billing team'));
    expect(Number(textOf(ubl, 'cbc:PayableAmount'))).toBe(Number(made.total));
  });

  it('with lines billed in advance has a period that holds theirs', async () => {
    const line = { quantity: '1', amount: '10' };
    const line_items = [
      { ...line, display_name: 'Usage', period_start: '2026-01-01T00:00:00Z', period_end: '2026-02-01T00:00:00Z' },
      { ...line, display_name: 'Fee', period_start: '2026-02-01T00:00:00Z', period_end: '2026-03-01T00:00:00Z' },
    ];
    const tax_rate_overrides = [await rate('7', 'inclusive')];
    const customer_id = await customerOf(authority);
    const { ubl } = await files(
      `/invoices/${(await invoice(['10', '10'], { customer_id, line_items, tax_rate_overrides })).id}`,
    );
    expect([textOf(ubl, 'cbc:StartDate'), textOf(ubl, 'cbc:EndDate')]).toEqual(['2026-01-01', '2026-02-28']);
  });

  it.each(['O', 'AE', 'K', 'G', 'Z', 'E'])('without tax is valid of the category %s', async (untaxed_category) => {
    await setting({ untaxed_category });
    const metadata = { ...authority.metadata, vat_id: 'ATU12345678' };
    const made = await invoice(['50'], { customer_id: await customerOf({ ...authority, metadata }) });
    await files(`/invoices/${made.id}`);
    await setting({ untaxed_category: null });
  });

  it('of a credit note leaves open how it is paid', async () => {
    const made = await invoice(['100'], {
      customer_id: await customerOf(authority),
      tax_rate_overrides: [await rate('19')],
    });
    const line_items = [{ invoice_line_item_id: made.line_items[0].id, amount: '60' }];
    const note = await created<Wire>(api, '/creditnotes', { invoice_id: made.id, reason: 'SERVICE_ISSUE', line_items });
    const { ubl } = await files(`/creditnotes/${note.id}`, 'ubl credit note');
    expect(textOf(ubl, 'cbc:PaymentMeansCode')).toBe('1');
  });
});

describe('an XRechnung is refused', () => {
  const ask = (id: string, format: string) =>
    api<Wire>('GET', `/invoices/${id}/e-invoice?format=${format}&profile=xrechnung`);

  it('inside a PDF, and in an unknown profile', async () => {
    const { id } = await invoice(['5'], { customer_id: await customerOf(authority) });
    expect((await ask(id, 'facturx')).body.details.fields).toHaveProperty('profile');
    expect(
      (await api<Wire>('GET', `/invoices/${id}/e-invoice?format=ubl&profile=peppol`)).body.details.fields,
    ).toHaveProperty('profile');
  });

  it('for everything it demands beyond the core, in one answer, while the core is answered', async () => {
    await seller({
      email: '',
      phone: '',
      address: { address_country: 'DE', address_city: '', address_postal_code: '' },
    });
    await setting({ contact_name: null, iban: null });
    const { id } = await invoice(['5'], {
      customer_id: await customerOf({ address_city: '', address_postal_code: '', email: '' }),
    });
    for (const format of ['ubl', 'cii']) {
      const { status, body } = await ask(id, format);
      expect(status).toBe(400);
      expect(Object.keys(body.details.fields)).toEqual([
        'metadata.buyer_reference',
        'billing_details.address.address_city',
        'billing_details.address.address_postal_code',
        'billing_details.email',
        'billing_details.phone',
        'contact_name',
        'iban',
        'customer.address_city',
        'customer.address_postal_code',
        'customer.email',
      ]);
      expect(body.message).toContain('Leitweg-ID');
    }
    await fileOf(`/invoices/${id}`, 'ubl');
    await sellerIsKnown();
  });
});
