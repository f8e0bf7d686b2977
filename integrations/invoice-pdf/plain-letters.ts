import type { InvoicePage, PageText } from './render.ts';

/**
 * Letters that need no shaping: those of scripts written from left to right without joined forms, digits, and signs. No marks.
 */
const notPlain =
  /[^\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}0-9\p{Sc}\p{Zs}!-/:-@[-`{-~·–—’“”№§]|\p{M}/gu;

/** Beyond the letters of ASCII: some of the plain ones are composed of marks, which their font may lack. */
const notBasic = /[^ -~]/gu;

/** Letters that a page is set in after the typesetter aborted: those that need no shaping, or after another abort those of ASCII alone. */
export type PlainLetters = 'unshaped' | 'basic';

/**
 * The page with □ for every letter that needs shaping, or is none of ASCII, all of it from left to right. Some mixtures of scripts make the typesetter
 * abort; a paper with a name that cannot be read is of more use than none. Amounts, dates and numbers stay.
 */
export function inPlainLetters(page: InvoicePage, letters: PlainLetters = 'unshaped'): InvoicePage {
  const plain = (text: string) =>
    text
      .toWellFormed()
      .replaceAll(/[\u200e\u200f\u061c\u2066-\u2069]/g, '')
      .replace(letters === 'basic' ? notBasic : notPlain, '□');
  const plainText = (text: PageText): PageText => (text.isFixed ? text : { text: plain(text.text), rtl: false });
  return {
    ...page,
    number: plain(page.number),
    footer: plain(page.footer),
    seller: {
      name: plain(page.seller.name),
      title: plainText(page.seller.title),
      lines: page.seller.lines.map(plainText),
    },
    customer: {
      label: page.customer.label,
      title: plainText(page.customer.title),
      lines: page.customer.lines.map(plainText),
    },
    dates: page.dates.map(([label, value, isGiven]) => (isGiven ? [label, plain(value), true] : [label, value])),
    lines: page.lines.map((line) => ({ ...line, name: plainText(line.name), note: plain(line.note) })),
    totals: page.totals.map(([label, amount, isSum]) => [plainText(label), amount, isSum]),
    notes: page.notes.map(plainText),
  };
}
