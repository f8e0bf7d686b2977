import type { InvoicePage, PageText } from './render.ts';

/**
 * Letters that need no shaping: those of scripts written from left to right without joined forms, digits, and signs. No marks.
 */
const notPlain =
  /[^\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}0-9\p{Sc}\p{Zs}!-/:-@[-`{-~·–—’“”№§]|\p{M}/gu;

/**
 * The page with □ for every letter that needs shaping, all of it from left to right. Some mixtures of scripts make the typesetter
 * abort; a paper with a name that cannot be read is of more use than none. Amounts, dates and numbers stay.
 */
export function inPlainLetters(page: InvoicePage): InvoicePage {
  return {
    ...page,
    title: plain(page.title),
    number: plain(page.number),
    stamp: page.stamp === null ? null : plain(page.stamp),
    footer: plain(page.footer),
    seller: {
      name: plain(page.seller.name),
      title: plainText(page.seller.title),
      lines: page.seller.lines.map(plainText),
    },
    customer: {
      label: plain(page.customer.label),
      title: plainText(page.customer.title),
      lines: page.customer.lines.map(plainText),
    },
    dates: page.dates.map(([label, value]) => [plain(label), plain(value)]),
    headline: [plain(page.headline[0]), plain(page.headline[1])],
    lines: page.lines.map(({ name, note, period, quantity, amount }) => ({
      name: plainText(name),
      note: plain(note),
      period: plain(period),
      quantity: plain(quantity),
      amount: plain(amount),
    })),
    totals: page.totals.map(([label, amount, isSum]) => [plainText(label), plain(amount), isSum]),
    notes: page.notes.map(plainText),
  };
}

const plain = (text: string) => text.toWellFormed().replace(notPlain, '□');
const plainText = ({ text }: PageText): PageText => ({ text: plain(text), rtl: false });
