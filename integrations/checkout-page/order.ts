import { html } from 'ghtml';
import type { CheckoutFormat } from './format.ts';
import { filled } from './text.ts';
import type { CheckoutLine, CheckoutOrder, CheckoutTax } from './view.ts';
import type { CheckoutWords } from './words-en.ts';

/** Language of a page: its words, and how it writes values. */
export interface Spoken {
  words: CheckoutWords;
  format: CheckoutFormat;
}

// More lines than these would push the payment off a phone's first screens; the rest opens by a press.
const shownLines = 6;

/** Lines of an order, and from their sum to what is paid by this payment. */
export function orderTable(order: CheckoutOrder, isPaid: boolean, timezone: string, spoken: Spoken): string {
  const { words, format } = spoken;
  const rows = order.lines.map((line) => lineRow(line, order.currency, timezone, format));
  const lines =
    rows.length > shownLines
      ? html`<details><summary>!${filled(words.allLines, { count: format.number(String(rows.length)) })}</summary><ul class="lines">!${rows}</ul></details>`
      : html`<ul class="lines">!${rows}</ul>`;
  return html`!${lines}
<dl class="totals">
!${sumRows(order, spoken)}
<div class="due"><dt>${isPaid ? words.paid : words.due}</dt><dd><bdi>${format.money(order.amountDue, order.currency)}</bdi></dd></div>
</dl>
!${renewal(order, isPaid, spoken)}`;
}

function lineRow(line: CheckoutLine, currency: string, timezone: string, format: CheckoutFormat): string {
  const facts = [
    ...(line.quantity === null || line.quantity === '1' ? [] : [`${format.number(line.quantity)} ×`]),
    ...(line.period === null ? [] : [format.period(line.period, timezone)]),
  ];
  const note =
    facts.length === 0 ? '' : html`<p class="soft">!${facts.map((fact) => html`<bdi>${fact}</bdi>`).join(' · ')}</p>`;
  return html`<li><div><p><bdi>${line.name}</bdi></p>!${note}</div><p class="figure"><bdi>${format.money(line.amount, currency)}</bdi></p></li>`;
}

function sumRows(order: CheckoutOrder, { words, format }: Spoken): string[] {
  const { currency } = order;
  const row = (label: string, amount: string) => html`<div><dt>!${label}</dt><dd><bdi>${amount}</bdi></dd></div>`;
  const money = (amount: string) => format.money(amount, currency);
  const less = (amount: string) => format.less(amount, currency);
  const taken = order.deductions.map(({ name, amount }) =>
    row(name === null ? html`${words.credits}` : html`<bdi>${name}</bdi>`, less(amount)),
  );
  const taxes = order.taxes.map((tax) => {
    const values = { tax: taxName(tax, format) };
    return row(filled(tax.isIncluded ? words.included : '{tax}', values), money(tax.amount));
  });
  const settled = order.settled.map(({ kind, amount }) => row(html`${words.settled[kind]}`, less(amount)));
  return [
    ...(taken.length + taxes.length === 0 ? [] : [row(html`${words.subtotal}`, money(order.subtotal))]),
    ...taken,
    ...taxes,
    ...(settled.length === 0 ? [] : [row(html`${words.total}`, money(order.total))]),
    ...settled,
  ];
}

function taxName({ name, percentage }: CheckoutTax, format: CheckoutFormat): string {
  return percentage === null ? name : `${name} ${format.percent(percentage)}`;
}

function renewal({ renewal: every }: CheckoutOrder, isPaid: boolean, { words, format }: Spoken): string {
  if (every === null || isPaid) return '';
  const text =
    every.count === 1
      ? filled(words.renewal[every.unit])
      : filled(words.renewal.every, { duration: format.duration(every) });
  return html`<p class="soft renewal">!${text}</p>`;
}
