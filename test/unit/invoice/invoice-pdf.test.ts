import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { openDocumentRenderer } from '../../../integrations/document-renderer/renderer.ts';
import { coveredRanges, unpackedFont } from '../../../integrations/invoice-pdf/font-file.ts';
import { inPlainLetters } from '../../../integrations/invoice-pdf/plain-letters.ts';
import { type InvoicePage, renderInvoicePdf } from '../../../integrations/invoice-pdf/render.ts';

const text = (value: string) => ({ text: value, rtl: false });

function pageOf(name: string): InvoicePage {
  return {
    ...{ title: 'Invoice', number: 'INV-1', accent: '#1f4e8c', paper: 'a4', logo: null, stamp: null, footer: name },
    seller: { name, title: text(name), lines: [text(name)] },
    customer: { label: 'Billed to', title: text(name), lines: [] },
    ...{ dates: [], headline: ['Amount due', '1'], totals: [], notes: [text(name)] },
    lines: [{ name: text(name), note: name, period: '', quantity: '1', amount: '1' }],
  };
}

const documents = openDocumentRenderer();
afterAll(() => documents.close());
const isPdf = async (page: InvoicePage) => (await documents.pdf(page)).toString('latin1', 0, 5) === '%PDF-';

test.each([
  ...['✨', '🚀 👨‍👩‍👧 🇩🇪', 'สวัสดีชาวโลก', 'தமிழ் நாடு', 'বাংলা ভাষা', 'አማርኛ', 'हिन्दी क्षत्रिय', 'اردو ٹ ڈ', 'Ελλάδα Україна'],
  ...['𠮷野家', '\u0007\u0000', '\ud800 half', '\uffff', 'ᚠ ꯀ ៘', 'a\u0300\u0301\u0302', '\u200b\u2066'],
])('the name %j is on a page', async (name) => {
  expect(await isPdf(pageOf(name))).toBe(true);
});

test('any text is on a page: a letter that no font has is □ and no error', { timeout: 120_000 }, async () => {
  const letter = fc.oneof(
    fc.integer({ min: 0, max: 0x2fff }),
    fc.integer({ min: 0, max: 0xffff }),
    fc.integer({ min: 0, max: 0x10ffff }),
  );
  const name = fc
    .array(letter, { minLength: 1, maxLength: 20 })
    .map((codes) => codes.map((code) => String.fromCodePoint(code)).join(''));
  const language = fc.constantFrom(undefined, 'en', 'ar', 'ja');
  await fc.assert(
    fc.asyncProperty(name, language, (text, spoken) => isPdf({ ...pageOf(text), ...(spoken && { language: spoken }) })),
    { numRuns: 150 },
  );
});

const rightToLeft = (page: InvoicePage): InvoicePage => ({
  ...page,
  customer: { ...page.customer, title: { ...page.customer.title, rtl: true } },
});

test('a word that is longer than its column goes on in the next line, and pages of the first layout stay as they were', () => {
  const long = pageOf('a'.repeat(300));
  const [first, second] = [long, { ...long, language: 'en' }].map((page) => renderInvoicePdf(page));
  expect(first?.equals(second ?? Buffer.alloc(0))).toBe(false);
});

test.each(['\ua7cf \ua7cf\ua7cf\ua7cf\u059e\ua7cf\ua7cf\ua7cf', '□ □□□\u059e□□□□□', '\u202eabc def', '⿍□ عربي ⿍□'])(
  '%j, of which some forms make the typesetter abort, ends no process but its own',
  async (name) => {
    const [hostile, plain] = await Promise.all([isPdf(rightToLeft(pageOf(name))), isPdf(pageOf('Acme'))]);
    expect([hostile, plain]).toEqual([true, true]);
  },
);

test('a Greek sign of two marks, which makes the typesetter abort among plain letters too, is □', async () => {
  expect(await isPdf({ ...pageOf('\u1fcd\u0000\u169d'), language: 'ar' })).toBe(true);
  expect(inPlainLetters(pageOf('Łódź 1'), 'basic').customer.title).toEqual(text('□□d□ 1'));
});

test('plain letters keep what needs no shaping, and all amounts', () => {
  const page = pageOf('Łódź 東京 Αθήνα שלום — a\u0301');
  page.totals = [[text('Total'), '€ 1.234,50', true]];
  const plain = inPlainLetters(page);
  expect(plain.customer.title).toEqual(text('Łódź 東京 Αθήνα □□□□ — a□'));
  expect(plain.totals).toEqual([[text('Total'), '€ 1.234,50', true]]);
  // Words of the product itself are none that anybody could have chosen.
  const arabic = { text: 'الإجمالي', rtl: true };
  page.totals = [
    [{ ...arabic, isFixed: true }, '1,234.50 €', true],
    [arabic, '0.00 €', false],
  ];
  page.dates = [
    ['تاريخ الإصدار', '1 مارس 2026'],
    ['رقم طلبكم', 'طلب 7', true],
  ];
  expect(inPlainLetters(page).totals.map(([label]) => label.text)).toEqual([arabic.text, '□□□□□□□□']);
  expect(inPlainLetters(page).dates.map(([, value]) => value)).toEqual(['1 مارس 2026', '□□□ 7']);
});

test('what a page looks like depends on its letters alone, whatever was set before it', () => {
  const first = renderInvoicePdf(pageOf('★ Plain ☎'));
  for (const other of ['日本', 'ไทย', '日本 ไทย']) renderInvoicePdf(pageOf(other));
  expect(renderInvoicePdf(pageOf('★ Plain ☎')).equals(first)).toBe(true);
});

test('a font that is not packed is left as it is, and one without letters covers none', () => {
  const plain = Buffer.from([0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  expect(unpackedFont(plain)).toBe(plain);
  expect(coveredRanges(plain)).toEqual([]);
});
