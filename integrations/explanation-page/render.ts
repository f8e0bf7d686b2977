import { html } from 'ghtml';
import { pagePolicy, type RenderedPage } from '../html-page.ts';
import { styleOf } from './style.ts';

/** What the page shows of one step of a line: what it is about, the step in words, and what the amount is after it. */
export interface ExplanationRow {
  label: string;
  text: string;
  amount: string | null;
}

/** An invoice explained: finished texts, no markup. */
export interface ExplanationPage {
  title: string;
  number: string;
  stamp: string | null;
  /** `#rrggbb`. */
  accent: string;
  /** A data URL of a PNG or JPEG; empty shows the seller's name instead. */
  logo: string;
  footer: string;
  seller: { name: string; lines: string[] };
  customer: { name: string; lines: string[] };
  dates: [label: string, text: string][];
  headline: [label: string, amount: string];
  lines: {
    name: string;
    note: string;
    period: string;
    quantity: string;
    amount: string;
    rows: ExplanationRow[];
    /** Coupons and credits: they do not change the amount of the line. */
    takenOff: ExplanationRow[];
    /** What came too late and is not on the invoice. */
    late: string[];
  }[];
  totals: (ExplanationRow & { isSum: boolean })[];
  payments: ExplanationRow[];
  moments: { at: string; text: string }[];
  /** Where the times are from. */
  timezone: string;
}

/** An explained invoice as one self-contained page. Every text is escaped. */
export function renderExplanationPage(page: ExplanationPage): RenderedPage {
  const style = styleOf(page.accent);
  return {
    html: documentOf(page, style),
    contentSecurityPolicy: pagePolicy({ style, hasForms: false }),
    referrerPolicy: 'no-referrer',
  };
}

function documentOf(page: ExplanationPage, style: string): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${page.title} ${page.number}</title>
<style>!${style}</style>
</head>
<body>
<main>
!${head(page)}
!${atAGlance(page)}
<section aria-labelledby="lines">
<h2 id="lines">How each line came about</h2>
!${page.lines.map(lineCard)}
</section>
!${payments(page)}
!${moments(page)}
<footer><p dir="auto">${page.footer}</p><p>Times are those of ${page.timezone}. Amounts are shown as they were stored when the invoice was computed; nothing is computed for this page.</p></footer>
</main>
</body>
</html>
`;
}

function head(page: ExplanationPage): string {
  const { seller, customer, headline } = page;
  const mark = page.logo
    ? html`<img class="logo" src="${page.logo}" alt="${seller.name}">`
    : html`<p class="seller" dir="auto">${seller.name}</p>`;
  const stamp = page.stamp === null ? '' : html`<p class="stamp">${page.stamp}</p>`;
  return html`<header>
<div>!${mark}!${seller.lines.map((line) => html`<p class="soft" dir="auto">${line}</p>`)}</div>
<div class="number"><h1>${page.title}</h1><p>${page.number}</p>!${stamp}</div>
</header>
<div class="parties">
<div><p class="label">Billed to</p><p class="name" dir="auto">${customer.name}</p>!${customer.lines.map((line) => html`<p class="soft" dir="auto">${line}</p>`)}</div>
<dl>!${page.dates.map(([label, text]) => html`<div><dt>${label}</dt><dd>${text}</dd></div>`)}</dl>
</div>
<p class="headline"><span>${headline[0]}</span><strong>${headline[1]}</strong></p>
`;
}

/** The lines as the invoice has them, each with the way to its explanation, and from their sum to what is due. */
function atAGlance({ lines, totals }: ExplanationPage): string {
  const rows = lines.map(
    (line, index) =>
      html`<tr><th scope="row"><a href="#line-${index + 1}"><bdi>${line.name}</bdi></a>!${line.late.length === 0 ? '' : html` <span class="badge">late usage</span>`}</th><td class="soft">${line.period}</td><td class="figure">${line.quantity}</td><td class="figure">${line.amount}</td></tr>`,
  );
  return html`<section aria-label="The invoice">
<table class="glance">
<thead><tr><th scope="col">Description</th><th scope="col">Period</th><th scope="col" class="figure">Quantity</th><th scope="col" class="figure">Amount</th></tr></thead>
<tbody>!${rows}</tbody>
</table>
<table class="totals"><tbody>!${totals.map(totalRow)}</tbody></table>
</section>
`;
}

function totalRow({ label, text, amount, isSum }: ExplanationPage['totals'][number]): string {
  return html`<tr class="${isSum ? 'sum' : 'step'}"><th scope="row"><bdi>${label}</bdi></th><td class="soft">${text}</td><td class="figure">${amount ?? ''}</td></tr>`;
}

function lineCard(line: ExplanationPage['lines'][number], index: number): string {
  const facts = [line.note, line.period].filter((text) => text !== '');
  return html`<article id="line-${index + 1}">
<div class="line-head"><h3><bdi>${line.name}</bdi></h3><p class="figure">${line.amount}</p></div>
!${facts.length === 0 ? '' : html`<p class="soft">!${facts.map((text) => html`<bdi>${text}</bdi>`).join(' · ')}</p>`}
<table class="steps"><tbody>!${stepRows(line.rows)}<tr class="sum"><th scope="row">On the invoice</th><td></td><td class="figure">${line.amount}</td></tr>!${stepRows(line.takenOff)}</tbody></table>
!${line.late.map((text) => html`<p class="late"><strong>Not on this invoice.</strong> ${text}</p>`)}
</article>
`;
}

/** A label is said once for the steps that share it. */
function stepRows(rows: readonly ExplanationRow[]): string[] {
  return rows.map(({ label, text, amount }, index) => {
    const isSame = index > 0 && rows[index - 1]?.label === label;
    return html`<tr class="${isSame ? 'same' : 'step'}"><th scope="row"><span class="${isSame ? 'unseen' : 'seen'}">${label}</span></th><td>${text}</td><td class="figure">${amount ?? ''}</td></tr>`;
  });
}

function payments({ payments: rows }: ExplanationPage): string {
  if (rows.length === 0) return '';
  return html`<section aria-labelledby="payments"><h2 id="payments">Payments</h2>
<table class="steps"><tbody>!${rows.map(({ label, text, amount }) => html`<tr class="step"><th scope="row">${label}</th><td>${text}</td><td class="figure">${amount ?? ''}</td></tr>`)}</tbody></table>
</section>
`;
}

function moments({ moments: rows }: ExplanationPage): string {
  return html`<section aria-labelledby="moments"><h2 id="moments">What happened when</h2>
<table class="steps"><tbody>!${rows.map(({ at, text }) => html`<tr class="step"><th scope="row">${at}</th><td>${text}</td></tr>`)}</tbody></table>
</section>
`;
}
