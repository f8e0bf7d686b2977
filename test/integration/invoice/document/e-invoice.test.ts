import { writeFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import { PDFArray, PDFDict, PDFDocument, PDFName, PDFStream, PDFString } from '@cantoo/pdf-lib';
import { beforeAll, describe, expect, it } from 'vitest';
import { create } from 'xmlbuilder2';
import type { Api, ApiAnswer } from '../../../support/app.ts';
import { created, testPlatform } from '../../../support/billing.ts';
import type { Wire } from '../invoice.fixture.ts';
import { eInvoices, textOf } from './e-invoice.fixture.ts';

const platform = await testPlatform();
const { api } = platform;

const { sellerIsKnown, setting, customerOf, rate, coupon, invoice, read, fileOf } = eInvoices(platform);

beforeAll(sellerIsKnown);

/** What lies in a PDF beside its pages, and what it says of itself. */
async function holdings(file: Buffer) {
  const { catalog } = await PDFDocument.load(file, { updateMetadata: false });
  const associated = catalog.lookup(PDFName.of('AF'), PDFArray);
  const attachments = associated.asArray().map((_, index) => {
    const entry = associated.lookup(index, PDFDict);
    const stream = entry.lookup(PDFName.of('EF'), PDFDict).lookup(PDFName.of('F'), PDFStream);
    return {
      name: entry.lookup(PDFName.of('UF'), PDFString).decodeText(),
      relationship: entry.lookup(PDFName.of('AFRelationship'), PDFName).decodeText(),
      type: stream.dict.lookup(PDFName.of('Subtype'), PDFName).decodeText(),
      text: inflateSync(stream.getContents()).toString('utf8'),
    };
  });
  const metadata = catalog.lookup(PDFName.of('Metadata'), PDFStream);
  return { attachments, metadata: Buffer.from(metadata.getContents()).toString('utf8') };
}

/** Both files of an invoice: valid, and asking for what the invoice asks. */
async function expectValid(document: Wire): Promise<{ ubl: string; cii: string }> {
  const ubl = await fileOf(`/invoices/${document.id}`, 'ubl');
  const cii = await fileOf(`/invoices/${document.id}`, 'cii');
  expect(textOf(ubl, 'cbc:ID')).toBe(document.invoice_number);
  for (const asked of [textOf(ubl, 'cbc:PayableAmount'), textOf(cii, 'ram:DuePayableAmount')]) {
    expect(Number(asked)).toBe(Number(document.total));
  }
  expect(Number(textOf(ubl, 'cbc:TaxAmount'))).toBe(Number(document.total_tax));
  expect(Number(textOf(cii, 'ram:TaxTotalAmount'))).toBe(Number(document.total_tax));
  return { ubl, cii };
}

describe('an issued invoice as EN 16931', () => {
  it('with tax on top, discounts and credits is valid in both syntaxes and asks for the same', async () => {
    const whole = await coupon({ type: 'percentage', percentage_off: '10' });
    const ofLine = await coupon({ type: 'fixed', amount_off: '5', currency: 'eur' });
    const made = await invoice(['100.10', '33.33'], {
      tax_rate_overrides: [await rate('19')],
      coupons: [whole],
      metadata: { purchase_order: 'PO 7', buyer_reference: '04011000' },
      total_prepaid_applied: '20',
    });
    const { ubl } = await expectValid(made);
    expect(textOf(ubl, 'cbc:PrepaidAmount')).toBe('20.00');
    expect(textOf(ubl, 'cbc:BuyerReference')).toBe('04011000');
    const lines = [{ display_name: 'Set-up', quantity: '3', amount: '100', metadata: { line_item_id: 'setup' } }];
    const line_item_coupons = [{ coupon_id: ofLine, line_item_id: 'setup' }];
    await expectValid(await invoice(['100'], { line_items: lines, line_item_coupons }));
  });

  it('with tax in its prices shows lines without it that add up to what was taxed', async () => {
    const { ubl } = await expectValid(
      await invoice(['10', '10', '10', '-1.01'], { tax_rate_overrides: [await rate('7', 'inclusive')] }),
    );
    expect(textOf(ubl, 'cbc:TaxExclusiveAmount')).toBe('27.09');
    expect(textOf(ubl, 'cbc:TaxInclusiveAmount')).toBe('28.99');
  });

  it.each([
    ['exclusive', { taxable: '65.00', due: '67.35' }],
    ['inclusive', { taxable: '54.62', due: '55.00' }],
  ])(
    'with credits that were taxed when they were bought (%s) shows them as an allowance, and others as paid',
    async (behavior, shown) => {
      const customer_id = await customerOf();
      const vat = (await rate('19', behavior)) as { tax_rate_code: string };
      await created(api, '/taxes/associations', { ...vat, entity_type: 'customer', entity_id: customer_id });
      const { id } = await created(api, '/wallets', { customer_id, currency: 'eur' });
      await api('PUT', '/settings/wallet_topup_config', { value: { tax: 'at_purchase' } });
      const { invoice_id } = await created<Wire>(api, `/wallets/${id}/top-up`, {
        ...{ transaction_reason: 'PURCHASED_CREDIT_INVOICED', credits_to_add: '25', priority: 0 },
      });
      await api('PUT', '/settings/wallet_topup_config', { value: { tax: null } });
      expect((await api('PUT', `/invoices/${invoice_id}/payment`, { payment_status: 'SUCCEEDED' })).status).toBe(200);
      await expectValid((await api<Wire>('GET', `/invoices/${invoice_id}`)).body);
      const free = { transaction_reason: 'FREE_CREDIT_GRANT', credits_to_add: '10' };
      await created(api, `/wallets/${id}/top-up`, free);
      const whole = await coupon({ type: 'percentage', percentage_off: '10' });
      const used = { display_name: 'Calls', quantity: '1000', amount: '100', price_type: 'USAGE' };
      const terms = { customer_id, tax_rate_overrides: [vat], coupons: [whole], line_items: [used] };
      const { ubl, cii } = await expectValid(await invoice(['100'], terms));
      expect(ubl).toContain('Prepaid credits, taxed when they were bought');
      expect(textOf(ubl, 'cbc:PrepaidAmount')).toBe('10.00');
      expect(textOf(ubl, 'cbc:TaxExclusiveAmount')).toBe(shown.taxable);
      expect(textOf(cii, 'ram:DuePayableAmount')).toBe(shown.due);
    },
  );

  it('with several rates on one base shows one rate of their sum, and each of them in a note', async () => {
    const tax_rate_overrides = [await rate('10', 'inclusive'), await rate('5'), await rate('2.5')];
    const { cii } = await expectValid(await invoice(['110', '5.5'], { tax_rate_overrides }));
    expect(textOf(cii, 'ram:RateApplicablePercent')).toBe('17.5');
    expect(cii.match(/<ram:Content>VAT \d+ [\d.]+ % of €105\.00: €[\d.]+</g)).toHaveLength(3);
  });

  it.each([
    ['O', {}, 'VATEX-EU-O'],
    ['AE', { metadata: { vat_id: 'ATU12345678' } }, 'VATEX-EU-AE'],
    ['K', { metadata: { vat_id: 'ATU12345678' } }, 'VATEX-EU-IC'],
    ['G', { address_country: 'US' }, 'VATEX-EU-G'],
    ['Z', {}, undefined],
    ['E', {}, undefined],
  ])('without tax is of the category %s where the seller says so', async (untaxed_category, customer, code) => {
    await setting({ untaxed_category, untaxed_reason: '§ 1' });
    const { ubl } = await expectValid(await invoice(['50'], { customer_id: await customerOf(customer) }));
    expect(textOf(ubl, 'cbc:TaxExemptionReasonCode')).toBe(code);
    expect(textOf(ubl, 'cbc:TaxExemptionReason')).toBe(untaxed_category === 'Z' ? undefined : '§ 1');
    await setting({ untaxed_category: null, untaxed_reason: null });
  });

  it('of an exempt customer says that it is exempt', async () => {
    const customer_id = await customerOf({ tax_treatment: 'exempt' });
    const made = await invoice(['50'], { customer_id, tax_rate_overrides: [await rate('19')] });
    const { cii } = await expectValid(made);
    expect(textOf(cii, 'ram:CategoryCode')).toBe('E');
    expect(textOf(cii, 'ram:ExemptionReason')).toBe('Exempt from VAT');
  });

  it.each(['jpy', 'usd', 'kwd'])('is in %s with the digits of the invoice', async (currency) => {
    const { ubl } = await expectValid(
      await invoice(['1500', '2000'], { currency, tax_rate_overrides: [await rate('10', 'exclusive', currency)] }),
    );
    expect(textOf(ubl, 'cbc:DocumentCurrencyCode')).toBe(currency.toUpperCase());
    expect(textOf(ubl, 'cbc:PayableAmount')).toBe(currency === 'jpy' ? '3850' : '3850.00');
  });

  it('holds names of any script and whatever XML must escape', async () => {
    for (const name of ['شركة النور للتجارة', '株式会社日本 & <Söhne> "x"']) {
      const { ubl } = await expectValid(
        await invoice(['5'], { customer_id: await customerOf({ name, address_line1: name }) }),
      );
      expect(ubl).toContain(name.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;'));
    }
  });

  it('whose lines are negative together asks for nothing', async () => {
    const { ubl } = await expectValid(await invoice(['10', '-25'], { subtotal: '-15', total: '0', amount_due: '0' }));
    expect(textOf(ubl, 'cbc:ChargeTotalAmount')).toBe('15.00');
  });
});

it('a Factur-X file is the pages as they were issued with that CII inside, and says so', async () => {
  const customer_id = await customerOf({ name: '株式会社日本 & شركة' });
  const made = await invoice(['100', '20'], { customer_id, tax_rate_overrides: [await rate('20')] });
  const answer = await read(`/invoices/${made.id}/e-invoice?format=facturx`);
  expect(answer.statusCode, answer.body.slice(0, 300)).toBe(200);
  expect(answer.headers['content-disposition']).toBe(`attachment; filename="${made.invoice_number}.pdf"`);
  const { attachments, metadata } = await holdings(answer.rawPayload);
  expect(attachments).toEqual([
    {
      name: 'factur-x.xml',
      relationship: 'Alternative',
      type: 'text/xml',
      text: await fileOf(`/invoices/${made.id}`, 'cii'),
    },
  ]);
  expect(metadata).toContain('<pdfaid:part>3</pdfaid:part><pdfaid:conformance>B</pdfaid:conformance>');
  expect(metadata).toContain('<fx:ConformanceLevel>EN 16931</fx:ConformanceLevel>');
  expect(metadata.match(/<pdfaProperty:name>(Document|Version|Conformance)/g)).toHaveLength(4);
  expect(create(metadata.replace(/<\?xpacket[^>]*\?>/g, '')).root().node.nodeName).toBe('x:xmpmeta');
  if (process.env.KEEP_PDF) writeFileSync(process.env.KEEP_PDF, answer.rawPayload);
});

it('a credit note names its invoice and holds the tax of its rates', async () => {
  const made = await invoice(['100', '20'], { tax_rate_overrides: [await rate('20')] });
  const line_items = [{ invoice_line_item_id: made.line_items[0].id, amount: '60' }];
  const note = await created<Wire>(api, '/creditnotes', { invoice_id: made.id, reason: 'SERVICE_ISSUE', line_items });
  const ubl = await fileOf(`/creditnotes/${note.id}`, 'ubl credit note');
  await fileOf(`/creditnotes/${note.id}`, 'cii');
  expect(textOf(ubl, 'cbc:PayableAmount')).toBe('60.00');
  expect(textOf(ubl, 'cbc:TaxAmount')).toBe('10.00');
  expect(ubl).toContain(`<cbc:ID>${made.invoice_number}</cbc:ID>`);
  const facturx = await read(`/creditnotes/${note.id}/e-invoice?format=facturx`);
  expect(facturx.statusCode, facturx.body.slice(0, 300)).toBe(200);
  expect(facturx.headers['content-disposition']).toBe(`attachment; filename="${note.credit_note_number}.pdf"`);
  const { attachments } = await holdings(facturx.rawPayload);
  expect(attachments).toMatchObject([{ name: 'factur-x.xml', text: await fileOf(`/creditnotes/${note.id}`, 'cii') }]);
  if (process.env.KEEP_CREDIT_NOTE) writeFileSync(process.env.KEEP_CREDIT_NOTE, facturx.rawPayload);
  const { id } = await created<Wire>(api, '/creditnotes', {
    invoice_id: made.id,
    reason: 'DUPLICATE',
    process_credit_note: false,
    line_items: [{ ...line_items[0], amount: '1' }],
  });
  const refused = await api<Wire>('GET', `/creditnotes/${id}/e-invoice?format=ubl`);
  expect(refused).toMatchObject({ status: 400, body: { code: 'validation_error' } });
});

describe('an e-invoice is refused', () => {
  const ask = (id: string, format = 'ubl'): Promise<ApiAnswer<Wire>> =>
    (api as Api)<Wire>('GET', `/invoices/${id}/e-invoice?format=${format}`);

  it('for an unknown invoice, one that was voided, and in an unknown format', async () => {
    expect((await ask('inv_none')).status).toBe(404);
    const { id } = await invoice(['5']);
    expect((await ask(id, 'edifact')).body.details.fields).toHaveProperty('format');
    await api('POST', `/invoices/${id}/void`);
    expect(await ask(id)).toMatchObject({ status: 400, body: { details: { context: { invoice_status: 'VOIDED' } } } });
  });

  it('for parties the standard wants to know more of, naming every field and where it is set', async () => {
    const ofUnknown = async () =>
      invoice(['5'], {
        customer_id: await customerOf({ address_country: null, metadata: { vat_id: '12' } }),
        tax_rate_overrides: [await rate('19')],
      });
    await setting({ vat_id: null, registration_id: null });
    const { id } = await ofUnknown();
    const { status, body } = await ask(id);
    expect(status).toBe(400);
    expect(Object.keys(body.details.fields)).toEqual([
      'customer.address_country',
      'vat_id',
      'customer.metadata.vat_id',
    ]);
    expect(body.message).toContain('PUT /settings/e_invoice_config');
    await setting({ tax_number: '12/345' });
    // A document keeps what it was issued with.
    expect((await ask(id)).body.details.fields).not.toHaveProperty('registration_id');
    expect((await ask((await ofUnknown()).id)).body.details.fields).toHaveProperty('registration_id');
    await setting({ vat_id: 'DE123456789', registration_id: 'HRB 1', tax_number: null });
  });

  it('for an amount with more decimals than the standard knows', async () => {
    const { id } = await invoice(['1.005'], { currency: 'kwd' });
    expect(await ask(id)).toMatchObject({
      status: 400,
      body: { details: { fields: { currency: expect.any(String) } } },
    });
  });

  it('never for what its setting would not take: numbers of another shape are refused there', async () => {
    for (const value of [{ vat_id: '123' }, { iban: 'DE 1' }, { bic: 'x' }, { untaxed_category: 'S' }]) {
      expect((await setting(value)).status, JSON.stringify(value)).toBe(400);
    }
  });
});
