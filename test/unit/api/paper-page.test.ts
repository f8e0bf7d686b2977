import { describe, expect, it, test } from 'vitest';
import { issuedPage } from '../../../api/invoice/document/e-invoice-page.ts';
import { invoicePage } from '../../../api/invoice/document/invoice-page.ts';
import { printedCreditNote, printedInvoice } from '../../../api/invoice/document/paper-page.ts';
import { paperWords } from '../../../api/invoice/document/paper-words.ts';
import { languages } from '../../../api/invoice/paper-texts/languages.ts';
import { credited, printed, vat } from './paper.fixture.ts';

const texts = (entries: { text: string }[]) => entries.map(({ text }) => text);
const totals = (page: ReturnType<typeof printedInvoice>) => page.totals.map(([label, amount]) => [label.text, amount]);
const written = (page: ReturnType<typeof printedInvoice>) => page.dates.map(([label, text]) => `${label}: ${text}`);
const speaking = (language: string) => ({ metadata: { vat_id: 'ATU12345678', language } });

const paid = {
  ...{ amountPaid: '1500', amountRemaining: '0', paidAt: '2026-03-01T10:00:00.000Z', paymentStatus: 'SUCCEEDED' },
};
const byCard = { amount: '1000', paidAt: '2026-03-01T10:00:00.000Z', type: 'CARD', lastFour: '4242' };
const byBank = { amount: '500', paidAt: '2026-03-04T10:00:00.000Z', type: 'OFFLINE', lastFour: '' };

describe('the printed page of an invoice is a VAT invoice', () => {
  const page = printedInvoice(printed());

  it('has the numbers of both, and order and reference of the buyer', () => {
    expect(texts(page.seller.lines).slice(-3)).toEqual([
      'VAT DE123456789',
      'Tax number 30/123/45678',
      'Registered HRB 1234',
    ]);
    expect(texts(page.customer.lines)).toContain('VAT ATU12345678');
    expect(written(page).slice(-2)).toEqual(['Your order: PO 4711', 'Your reference: KST 99']);
  });

  it('has the account as long as money is owed', () => {
    const account = 'Pay to IBAN DE89 3704 0044 0532 0130 00, BIC COBADEFFXXX · Invoice INV-202602-00042';
    expect(texts(page.notes)).toEqual([account]);
    expect(printedInvoice(printed({ row: paid })).notes).toEqual([]);
    expect(printedInvoice(printed({ row: { invoiceStatus: 'DRAFT' } })).notes).toEqual([]);
  });

  it('has the unit price of each line, or what each tier costs', () => {
    expect(page.lines.map(({ price, note }) => [price, note])).toEqual([
      ['', 'Pro · 1,000 × €0.50 + 2,000 × €0.325 + €10.00'],
      ['€30.00', 'Pro'],
    ]);
    const byHand = { displayName: 'Work', planDisplayName: null, periodStart: null, periodEnd: null };
    const lines = [
      { ...byHand, id: 'a', quantity: '8', amount: '100' },
      { ...byHand, id: 'b', quantity: '3', amount: '100' },
      { ...byHand, id: 'c', quantity: '0', amount: '100' },
    ];
    expect(printedInvoice(printed({ lines })).lines.map(({ price }) => price)).toEqual(['€12.50', '', '']);
  });

  it('says what each tax is taken of, and why there is none', () => {
    expect(totals(page)).toContainEqual(['VAT 20 % of €1,250.00', '€250.00']);
    const untaxed = (terms: object, row: object = {}) =>
      texts(printedInvoice(printed({ taxes: [], terms: { iban: '', ...terms }, row })).notes);
    expect(untaxed({ untaxed_category: 'AE' })).toEqual(['Reverse charge: the customer accounts for the tax.']);
    expect(untaxed({ untaxed_category: 'AE', untaxed_reason: '§ 13b UStG' })).toEqual(['§ 13b UStG']);
    expect(untaxed({ vat_id: '' })).toEqual([]);
    const exempt = { noTaxReason: 'customer_exempt' };
    expect(untaxed({}, exempt)).toEqual(['No tax is charged: the customer is exempt.']);
    const zero = vat('1250', '0', { taxRate: { name: 'Zero rate', percentageValue: '0' } });
    const zeroRated = printedInvoice(printed({ taxes: [zero] }));
    expect(totals(zeroRated)).toContainEqual(['Zero rate 0 % of €1,250.00', '€0.00']);
  });

  it('keeps name, rate and amount of a tax together where the text runs from right to left', () => {
    const arabic = printedInvoice(printed({ customer: speaking('ar') }));
    expect(texts(arabic.totals.map(([label]) => label))).toContainEqual(
      expect.stringMatching(/^\u2068VAT\u2069 \u206820 %\u2069 .+ \u2068[^\u2068]*1,250\.00[^\u2069]*\u2069$/),
    );
  });

  it('tells day and means of each payment, and of a paid one no day until which it was due', () => {
    const settled = printedInvoice(printed({ row: paid, payments: [byCard, byBank] }));
    expect(totals(settled).slice(-3)).toEqual([
      ['Paid on 1 March 2026 · card •••• 4242', '-€1,000.00'],
      ['Paid on 4 March 2026 · bank transfer or cash', '-€500.00'],
      ['Amount due', '€0.00'],
    ]);
    expect(written(page)).toContain('Due date: 31 March 2026');
    expect(written(settled)).toContain('Paid on: 1 March 2026');
    expect(written(settled).join()).not.toContain('Due date');
    const untold = printedInvoice(printed({ row: paid, payments: [byCard] }));
    expect(totals(untold)).toContainEqual(['Paid', '-€1,500.00']);
  });

  it('tells credits that were taxed when they were bought from others', () => {
    const row = { totalPrepaidCreditsApplied: '50', taxedCreditsApplied: '30' };
    expect(totals(printedInvoice(printed({ row })))).toEqual(
      expect.arrayContaining([
        ['Prepaid credits, taxed when bought', '-€30.00'],
        ['Prepaid credits', '-€20.00'],
      ]),
    );
  });

  it('has a row for coupons, credits and credit notes', () => {
    const row = {
      totalDiscount: '100',
      totalPrepaidCreditsApplied: '50',
      taxedCreditsApplied: '0',
      adjustmentAmount: '200',
    };
    expect(totals(printedInvoice(printed({ row })))).toEqual([
      ['Subtotal', '€1,250.00'],
      ['Discount', '-€100.00'],
      ['Prepaid credits', '-€50.00'],
      ['VAT 20 % of €1,250.00', '€250.00'],
      ['Total', '€1,500.00'],
      ['Credit notes', '-€200.00'],
      ['Amount due', '€1,500.00'],
    ]);
  });
});

describe('a page speaks the language of its customer', () => {
  it.each([
    ['en', 'Invoice', 'Amount due by 31 March 2026', '€1,500.00', 'Austria'],
    ['de-AT', 'Rechnung', 'Zu zahlen bis 31. März 2026', '1.500,00 €', 'Österreich'],
    ['fr', 'Facture', 'Montant dû au plus tard le 31 mars 2026', '1 500,00 €', 'Autriche'],
    ['es', 'Factura', 'Importe pendiente hasta el 31 de marzo de 2026', '1500,00 €', 'Austria'],
    ['ar', 'فاتورة', 'المبلغ المستحق حتى 31 مارس 2026', '1,500.00 €', 'النمسا'],
    ['ja_JP', '請求書', 'ご請求額、支払期限 2026年3月31日', '€1,500.00', 'オーストリア'],
    ['xx', 'Invoice', 'Amount due by 31 March 2026', '€1,500.00', 'Austria'],
    ['constructor', 'Invoice', 'Amount due by 31 March 2026', '€1,500.00', 'Austria'],
  ])('%s', (language, title, label, amount, country) => {
    const page = printedInvoice(printed({ customer: speaking(language) }));
    const plain = page.headline.map((text) => text.replaceAll(/[\u00a0\u202f]/g, ' '));
    expect([page.title, ...plain]).toEqual([title, label, amount]);
    expect(texts(page.customer.lines)).toContain(country);
  });

  it.each(Object.keys(languages))('%s has every word that English has, and none is English', (language) => {
    const { words } = languages[language as keyof typeof languages];
    const leaves = (value: object): [string, string][] =>
      Object.entries(value).flatMap(([key, inner]) =>
        typeof inner === 'string' ? [[key, inner] as [string, string]] : leaves(inner),
      );
    expect(leaves(words).map(([key]) => key)).toEqual(leaves(languages.en.words).map(([key]) => key));
    expect(leaves(words).filter(([, text]) => text.trim() === '')).toEqual([]);
  });

  it('keeps every digit of a price and of an amount', () => {
    const big = '9007199254740993.07';
    expect(paperWords('de').money(big, 'eur')).toBe('9.007.199.254.740.993,07\u00a0€');
    expect(paperWords('en').money('0.000125', 'usd')).toBe('$0.000125');
    // By ISO 4217, not by what a language's custom leaves out. spec: README decision 54
    expect(paperWords('de').money('12.5', 'huf')).toBe('12,50\u00a0HUF');
    expect(paperWords('de').money('1000', 'cop')).toBe('1.000,00\u00a0COP');
    expect(paperWords('de').money('1.234', 'iqd')).toBe('1,234\u00a0IQD');
    expect(paperWords('de').money('1000', 'jpy')).toBe('1.000\u00a0¥');
    expect(paperWords('ar').money('-12.5', 'usd')).toMatch(/^-12\.50/);
  });
});

test('a credit note names invoice, reason and the tax in it', () => {
  const page = printedCreditNote(credited('120'));
  expect([page.title, page.number, page.stamp, ...page.headline]).toEqual([
    ...['Credit note', 'CN-260300001', null, 'Credited', '€120.00'],
  ]);
  expect(written(page)).toEqual([
    ...['Issue date: 5 March 2026', 'Of invoice: INV-202602-00042', 'Reason: Service issue'],
    ...['Your order: PO 4711', 'Your reference: KST 99'],
  ]);
  expect(totals(page)).toEqual([
    ['Tax 20 % (included)', '€20.00'],
    ['Total credited', '€120.00'],
  ]);
  expect(texts(page.notes)).toEqual(['Outage on 14 February']);
  const reversed = printedCreditNote(credited('120', { taxes: [], terms: { untaxed_category: 'AE' } }));
  expect(texts(reversed.notes)).toContain('Reverse charge: the customer accounts for the tax.');
});

test('a document that was issued under the first layout keeps it', () => {
  const old = printed({ layout: 1, customer: speaking('de') });
  expect(printedInvoice(old)).toEqual(invoicePage(old));
});

test('the page of an e-invoice is the printed one without what came after it was issued', () => {
  const source = printed({ row: { ...paid, adjustmentAmount: '100' }, payments: [byCard, byBank] });
  const page = issuedPage(source, null as never);
  expect([page.stamp, ...page.headline]).toEqual([null, 'Amount due by 31 March 2026', '€1,500.00']);
  expect(totals(page).map(([label]) => label)).toEqual(['Subtotal', 'VAT 20 % of €1,250.00', 'Total', 'Amount due']);
});
