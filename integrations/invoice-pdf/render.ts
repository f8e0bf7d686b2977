import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NodeCompiler } from '@myriaddreamin/typst-ts-node-compiler';
import { coveredRanges, unpackedFont } from './font-file.ts';

/** A text with its direction, so that a right-to-left name stays one. */
export interface PageText {
  text: string;
  rtl: boolean;
  /** Words of the product itself, which stay where a page is set in plain letters. */
  isFixed?: boolean;
}

/** What the page of an invoice or of a credit note shows: finished texts, no markup. */
export interface InvoicePage {
  title: string;
  number: string;
  /** `#rrggbb`. */
  accent: string;
  paper: 'a4' | 'us-letter';
  /** An image's bytes; null shows the seller's name instead. */
  logo: { bytes: Buffer; type: 'png' | 'jpg' } | null;
  stamp: string | null;
  footer: string;
  seller: { name: string; title: PageText; lines: PageText[] };
  /** Who it is for; `label` says in which role. */
  customer: { label: string; title: PageText; lines: PageText[] };
  /** Label, value, and whether the value is a text that somebody gave. */
  dates: [string, string, boolean?][];
  headline: [string, string];
  /** Language of the fixed words; English when absent, as in pages laid out before there were others. */
  language?: string;
  /** Heads of the table: description, period, quantity, unit price, amount. */
  heads?: [string, string, string, string, string];
  lines: { name: PageText; note: string; period: string; quantity: string; price?: string; amount: string }[];
  /** Label, amount, and whether it is a sum that stands out. */
  totals: [PageText, string, boolean][];
  notes: PageText[];
}

const root = import.meta.dirname;
const upright = (name: string, extension = 'ttf') => [`${name}-Regular.${extension}`, `${name}-Bold.${extension}`];
const packed = (name: string) => [400, 700].map((weight) => `${name}-${weight}-normal.woff`);

type Faces = readonly { from: string; files: readonly string[] }[];

const usualFaces: Faces = [
  { from: '@embedpdf/fonts-latin', files: upright('NotoSans') },
  { from: '@embedpdf/fonts-arabic', files: upright('NotoNaskhArabic') },
  { from: '@embedpdf/fonts-hebrew', files: upright('NotoSansHebrew') },
];
/**
 * Read when a page first shows a letter of theirs. Two groups and no more: what a page looks like depends on its letters alone, so each
 * combination has a compiler of its own, which is kept.
 */
const furtherFaces: readonly { letters: RegExp; faces: Faces }[] = [
  {
    letters: /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u,
    faces: [
      { from: '@embedpdf/fonts-sc', files: upright('NotoSansHans', 'otf') },
      { from: '@embedpdf/fonts-kr', files: upright('NotoSansKR', 'otf') },
    ],
  },
  {
    letters:
      /[\p{Script=Bengali}\p{Script=Ethiopic}\p{Script=Tamil}\p{Script=Thai}\p{Regional_Indicator}]|(?![©®™])\p{Extended_Pictographic}/u,
    faces: [
      { from: '@fontsource/noto-sans-bengali', files: packed('noto-sans-bengali-bengali') },
      { from: '@fontsource/noto-sans-ethiopic', files: packed('noto-sans-ethiopic-ethiopic') },
      { from: '@fontsource/noto-sans-tamil', files: packed('noto-sans-tamil-tamil') },
      { from: '@fontsource/noto-sans-thai', files: packed('noto-sans-thai-thai') },
      { from: '@fontsource/noto-emoji', files: packed('noto-emoji-emoji') },
    ],
  },
];

interface Press {
  compiler: NodeCompiler;
  faces: Faces;
}
const presses = new Map<string, Press>();

/** A compiler with the faces a page needs, made once and kept. */
function pressFor(data: string): Press {
  const needed = furtherFaces.filter(({ letters }) => letters.test(data));
  const faces = [...usualFaces, ...needed.flatMap((group) => group.faces)];
  const key = faces.map(({ from }) => from).join();
  const known = presses.get(key);
  if (known) return known;
  const fontBlobs = filesOf(faces);
  const made = { compiler: NodeCompiler.create({ workspace: root, fontArgs: [{ fontBlobs }] }), faces };
  presses.set(key, made);
  return made;
}

function filesOf(faces: Faces): Buffer[] {
  return faces.flatMap(({ from, files }) =>
    files.map((file) => unpackedFont(readFileSync(join(folderOf(from), file)))),
  );
}

function folderOf(name: string): string {
  const isPacked = name.startsWith('@fontsource/');
  const entry = dirname(fileURLToPath(import.meta.resolve(isPacked ? `${name}/package.json` : name)));
  return isPacked ? join(entry, 'files') : join(entry, '..', 'fonts');
}

/** A file that lies in the PDF beside its pages. */
export interface PdfAttachment {
  name: string;
  description: string;
  /** The day of the document, `2026-02-15`. */
  issued: string;
  bytes: Buffer;
}

/**
 * The pages of an invoice as a PDF/A-3b file, with what is attached to them; a logo that is no image is left out. Throws when
 * the template cannot show them. It takes a core for as long as it takes: the API asks a thread for it.
 */
export function renderInvoicePdf(page: InvoicePage, attachment: PdfAttachment | null = null): Buffer {
  if (!page.logo) return render(page, attachment);
  try {
    return render(page, attachment);
  } catch {
    return render({ ...page, logo: null }, attachment);
  }
}

/** Reads the usual fonts and the template by setting a page without a word. */
export function loadTypesetter(): void {
  const nothing = { text: '', rtl: false };
  const nobody = { title: nothing, lines: [] };
  renderInvoicePdf({
    ...{ title: ' ', number: ' ', accent: '#000000', paper: 'a4', logo: null, stamp: null, footer: '' },
    ...{ seller: { name: '', ...nobody }, customer: { label: '', ...nobody }, dates: [], headline: ['', ''] },
    ...{ lines: [], totals: [], notes: [] },
  });
}

function render(page: InvoicePage, attachment: PdfAttachment | null): Buffer {
  const logo = page.logo ? `logo.${page.logo.type}` : null;
  const content = { ...page, logo, attachment: attachment && { ...attachment, bytes: undefined } };
  const data = JSON.stringify(content, (_, value) => (typeof value === 'string' ? readable(value) : value));
  const press = pressFor(data);
  const { compiler } = press;
  if (logo && page.logo) compiler.mapShadow(join(root, logo), page.logo.bytes);
  if (attachment) compiler.mapShadow(join(root, attachment.name), attachment.bytes);
  try {
    return (
      attempt(compiler, data) ?? attempt(compiler, withoutUnknown(data, press.faces)) ?? lastAttempt(compiler, data)
    );
  } finally {
    compiler.resetShadow();
    // What was laid out of one invoice is of no use to the next, and is kept for nobody.
    compiler.evictCache(0);
  }
}

/** The file, or null when a letter has no glyph: a PDF/A must not hold such. */
function attempt(compiler: NodeCompiler, data: string): Buffer | null {
  compiler.mapShadow(join(root, 'invoice.json'), Buffer.from(data));
  try {
    return compiler.pdf({ mainFilePath: join(root, 'invoice.typ') }, { pdfStandard: 'a-3b' });
  } catch (error) {
    if (error instanceof Error && error.message.includes('could not be displayed')) return null;
    throw error;
  }
}

/** For letters that have glyphs one by one and not beside each other: only those of the simplest scripts stay. */
function lastAttempt(compiler: NodeCompiler, data: string): Buffer {
  const made = attempt(compiler, data.replaceAll(/[^\p{ASCII}\p{Script=Latin}]/gu, unknownGlyph));
  const plain = made ?? attempt(compiler, data.replaceAll(/\P{ASCII}/gu, '?'));
  if (!plain) throw new Error('the page shows letters that no font has');
  return plain;
}

/** Stands for a letter that no font has; Noto Sans has it. */
const unknownGlyph = '□';

/** Halves of letters and characters that steer terminals show nothing. */
function readable(text: string): string {
  return text.toWellFormed().replaceAll(/[^\P{Cc}\n\t]/gu, ' ');
}

function withoutUnknown(data: string, faces: Faces): string {
  // Both weights of a face have the same letters.
  const ranges = filesOf(faces.map(({ from, files }) => ({ from, files: files.slice(0, 1) }))).flatMap(coveredRanges);
  const known = new Map<string, boolean>();
  const isKnown = (letter: string, code: number) => {
    const found = known.get(letter) ?? ranges.some(([first, last]) => first <= code && code <= last);
    known.set(letter, found);
    return found;
  };
  const shown = data.replaceAll(/[^\p{ASCII}\p{Default_Ignorable_Code_Point}]/gu, (letter) =>
    isKnown(letter, letter.codePointAt(0) ?? 0) ? letter : unknownGlyph,
  );
  // A mark of a letter that is not there says nothing, and one from right to left ends the whole process (typst-layout, shaping).
  return shown.replaceAll(/(?<=□\p{Default_Ignorable_Code_Point}*)\p{M}+/gu, '');
}
