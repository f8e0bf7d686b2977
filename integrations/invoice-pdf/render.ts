import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NodeCompiler } from '@myriaddreamin/typst-ts-node-compiler';

/** A text with its direction, so that a right-to-left name stays one. */
export interface PageText {
  text: string;
  rtl: boolean;
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
  dates: [string, string][];
  headline: [string, string];
  lines: { name: PageText; note: string; period: string; quantity: string; amount: string }[];
  /** Label, amount, and whether it is a sum that stands out. */
  totals: [PageText, string, boolean][];
  notes: PageText[];
}

const root = import.meta.dirname;
const faces = [
  ['latin', 'NotoSans-Regular.ttf'],
  ['latin', 'NotoSans-Bold.ttf'],
  ['arabic', 'NotoNaskhArabic-Regular.ttf'],
  ['arabic', 'NotoNaskhArabic-Bold.ttf'],
  ['hebrew', 'NotoSansHebrew-Regular.ttf'],
  ['hebrew', 'NotoSansHebrew-Bold.ttf'],
] as const;
/** Large, so they are read when the first name needs them. */
const eastAsianFaces = [
  ['sc', 'NotoSansHans-Regular.otf'],
  ['sc', 'NotoSansHans-Bold.otf'],
  ['kr', 'NotoSansKR-Regular.otf'],
  ['kr', 'NotoSansKR-Bold.otf'],
] as const;
const eastAsian = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

const compilers = new Map<boolean, NodeCompiler>();

/** A compiler with the faces a page needs, made once and kept. */
function compilerFor(data: string): NodeCompiler {
  const isEastAsian = eastAsian.test(data);
  const known = compilers.get(isEastAsian);
  if (known) return known;
  const files = [...faces, ...(isEastAsian ? eastAsianFaces : [])];
  const fontBlobs = files.map(([script, file]) => readFileSync(join(folderOf(script), file)));
  const made = NodeCompiler.create({ workspace: root, fontArgs: [{ fontBlobs }] });
  compilers.set(isEastAsian, made);
  return made;
}

function folderOf(script: string): string {
  const entry = dirname(fileURLToPath(import.meta.resolve(`@embedpdf/fonts-${script}`)));
  return join(entry, '..', 'fonts');
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

function render(page: InvoicePage, attachment: PdfAttachment | null): Buffer {
  const logo = page.logo ? `logo.${page.logo.type}` : null;
  const data = JSON.stringify({ ...page, logo, attachment: attachment && { ...attachment, bytes: undefined } });
  const compiler = compilerFor(data);
  if (logo && page.logo) compiler.mapShadow(join(root, logo), page.logo.bytes);
  if (attachment) compiler.mapShadow(join(root, attachment.name), attachment.bytes);
  compiler.mapShadow(join(root, 'invoice.json'), Buffer.from(data));
  try {
    return compiler.pdf({ mainFilePath: join(root, 'invoice.typ') }, { pdfStandard: 'a-3b' });
  } finally {
    compiler.resetShadow();
    // What was laid out of one invoice is of no use to the next, and is kept for nobody.
    compiler.evictCache(0);
  }
}
