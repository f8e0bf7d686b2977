import { readFileSync } from 'node:fs';
import { html } from 'ghtml';
import { pagePolicy, type RenderedPage } from '../html-page.ts';
import type { ProviderPageWay } from '../provider-adapter.ts';
import { checkoutFormat } from './format.ts';
import { orderTable, type Spoken } from './order.ts';
import { panelOf } from './panel.ts';
import { styleOf } from './style.ts';
import { filled, letterTo, picture, plain } from './text.ts';
import { type CheckoutLanguage, type CheckoutPageView, checkoutLanguages } from './view.ts';
import { checkoutWords } from './words.ts';
import type { CheckoutWords } from './words-en.ts';

const scriptIn = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8');

/** The page's whole script. */
export const checkoutScript = scriptIn('script.js');
/** The page's own part where Paddle's script is loaded beside it. */
export const paddlePageScript = scriptIn('paddle.js');
/** The page's own part where a card goes from it to its provider. */
export const cardFormScript = scriptIn('card-form.js');

/**
 * The hosted checkout page in one state, self-contained: it works without script, loads nothing, and every text of the view is
 * escaped; where it is paid by Paddle it needs script and loads Paddle's, and where it takes a card for a provider it needs its own. Gives the policy to send with it. design: money-in §3, web §1
 */
export function renderCheckoutPage(view: CheckoutPageView): RenderedPage {
  const spoken = spokenIn(view.language);
  const { words } = spoken;
  const isOpen = view.state.kind === 'pay' || view.state.kind === 'confirm';
  const content = html`<header>
!${view.isTest ? html`<p class="test">${words.test}</p>` : ''}
<div class="brand">!${brand(view)}</div>
</header>
<main class="${isOpen ? 'open' : 'told'}">
!${isOpen ? orderSection(view, spoken) + panelOf(view, spoken) : panelOf(view, spoken) + receipt(view, spoken)}
</main>
!${footer(view, words)}`;
  return documentOf({
    language: view.language,
    title: `${titleOf(view, spoken)} · ${view.seller.name}`,
    accent: view.seller.accent,
    data: dataOf(view, words),
    refreshSeconds: view.state.kind === 'waiting' ? refreshSeconds(view.state.nextPollAfterMs) : null,
    content,
    pageWay: pageWayOf(view),
  });
}

/**
 * A page without a session: `unknown` for an address that opens nothing (any more), `unavailable` for a fault on this side, in
 * which nothing is said about the session.
 */
export function renderCheckoutNotice(kind: 'unknown' | 'unavailable', language: CheckoutLanguage): RenderedPage {
  const { title, text } = checkoutWords[language][kind];
  const content = html`<main class="told"><section class="panel result"><h1>${title}</h1><p>${text}</p></section></main>`;
  return documentOf({ language, title, accent: '', data: '', refreshSeconds: null, content, pageWay: null });
}

function spokenIn(language: CheckoutLanguage): Spoken {
  return { words: checkoutWords[language], format: checkoutFormat(language) };
}

interface PageParts {
  language: CheckoutLanguage;
  title: string;
  accent: string;
  /** Attributes of the body that the script reads, as HTML. */
  data: string;
  /** Without script a waiting page loads itself anew. */
  refreshSeconds: number | null;
  content: string;
  /** The provider's part of the page, where it has one. */
  pageWay: ProviderPageWay | null;
}

function documentOf(parts: PageParts): RenderedPage {
  const { language, title, accent, data, refreshSeconds: seconds, content, pageWay } = parts;
  const style = styleOf(accent);
  const refresh = seconds === null ? '' : html`<noscript><meta http-equiv="refresh" content="${seconds}"></noscript>`;
  const own = pageWay === null ? null : pageWay.kind === 'script' ? paddlePageScript : cardFormScript;
  const foreign = pageWay?.kind === 'script' ? html`<script src="${pageWay.url}"></script>` : '';
  const loaded = own === null ? '' : html`!${foreign}<script>!${own}</script>`;
  const page = html`<!doctype html>
<html lang="${language}" dir="${checkoutWords[language].direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
!${refresh}
<title>${title}</title>
<style>!${style}</style>
</head>
<body!${data}>
!${content}
<script>!${checkoutScript}</script>
!${loaded}
</body>
</html>
`;
  const scripts = own === null ? [checkoutScript] : [checkoutScript, own];
  return {
    html: page,
    contentSecurityPolicy: pagePolicy({ style, scripts, hasForms: true, foreign: pageWay }),
    // Paddle takes payments on approved hosts alone, so it has to see which one this is.
    referrerPolicy: pageWay?.kind === 'script' ? 'strict-origin' : 'no-referrer',
  };
}

function pageWayOf({ state }: CheckoutPageView): ProviderPageWay | null {
  if (state.kind !== 'pay') return null;
  if (state.way.kind === 'paddle') return state.way.script;
  return state.way.kind === 'card_form' ? state.way.form : null;
}

// A page that changes under its reader is a nuisance; without script there is no gentler way.
const fewestSeconds = 5;

function refreshSeconds(nextPollAfterMs: number): number {
  return Math.max(fewestSeconds, Math.ceil(nextPollAfterMs / 1000));
}

function dataOf({ address, language, state }: CheckoutPageView, words: CheckoutWords): string {
  const said = html` data-busy="${words.busy}" data-offline="${words.offline}"`;
  if (state.kind !== 'waiting') return said;
  return html`!${said} data-page="${address}?lang=${language}" data-progress="${address}/progress" data-poll-after-ms="${state.nextPollAfterMs}"`;
}

function titleOf({ purpose, state, order }: CheckoutPageView, { words, format }: Spoken): string {
  if (state.kind === 'pay') {
    if (order === null) return words.heading[purpose];
    return plain(words.pay.button, { amount: format.money(order.amountDue, order.currency) });
  }
  if (state.kind === 'confirm') return order === null ? words.confirm.setupTitle : words.confirm.title;
  if (state.kind === 'waiting') return words.waiting[state.cause];
  if (state.kind === 'refunded') return words.refund.title;
  if (state.kind === 'done') return purpose === 'save_method' ? words.done.setupTitle : words.done.title;
  return words[state.kind].title;
}

function brand({ seller }: CheckoutPageView): string {
  const logo = picture(seller.logo);
  return logo === null
    ? html`<p class="seller"><bdi>${seller.name}</bdi></p>`
    : html`<img class="logo" src="!${logo}" alt="${seller.name}">`;
}

function orderSection(view: CheckoutPageView, spoken: Spoken): string {
  const { order, purpose, seller, state, timezone } = view;
  const { words, format } = spoken;
  const amount = order === null ? '' : amountLine(format.money(order.amountDue, order.currency));
  const customer =
    'customerName' in state && state.customerName !== null
      ? html`<p class="soft">!${filled(words.customer, { customer: state.customerName })}</p>`
      : '';
  return html`<section class="order" aria-labelledby="order">
<h1 id="order">${words.heading[purpose]}</h1>
!${amount}
<p class="soft">!${filled(words.seller, { seller: seller.name })}</p>
!${customer}
!${order === null ? '' : orderTable(order, false, timezone, spoken)}
</section>`;
}

/** The amount in large letters, which are smaller where they would not fit a phone. */
function amountLine(amount: string): string {
  const isLong = amount.length > 11;
  return html`<p class="amount!${isLong ? ' long' : ''}"><bdi>${amount}</bdi></p>`;
}

/** The order that was paid; the other ends show no order, because nothing came of it. */
function receipt({ order, state, timezone }: CheckoutPageView, spoken: Spoken): string {
  if (order === null || state.kind !== 'done') return '';
  return html`<section class="order receipt" aria-labelledby="order">
<h2 id="order">${spoken.words.order}</h2>
!${orderTable(order, true, timezone, spoken)}
</section>`;
}

function footer({ seller, address, language }: CheckoutPageView, words: CheckoutWords): string {
  const mail = seller.email === null ? '' : html`<p>${words.questions} !${mailLink(seller.email)}</p>`;
  const links = checkoutLanguages.map(
    (other) =>
      html`<a href="${address}?lang=${other}" lang="${other}" hreflang="${other}"!${other === language ? ' aria-current="true"' : ''}>${checkoutWords[other].languageName}</a>`,
  );
  return html`<footer>!${mail}<nav aria-label="${words.language}">!${links}</nav></footer>`;
}

function mailLink(email: string): string {
  const address = letterTo(email);
  return address === null ? html`<bdi>${email}</bdi>` : html`<a href="${address}" dir="ltr">${email}</a>`;
}
