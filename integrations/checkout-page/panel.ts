import { html } from 'ghtml';
import type { ProviderScript } from '../provider-adapter.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../sandbox-gateway/card.ts';
import { icon } from './icon.ts';
import type { Spoken } from './order.ts';
import { consent, payLabel } from './pay-label.ts';
import { providerCardForm } from './provider-card-form.ts';
import { filled, linkable } from './text.ts';
import type {
  CheckoutPageView,
  CheckoutRefund,
  ConfirmState,
  EndState,
  PayState,
  RefundedState,
  WaitingState,
} from './view.ts';

/** Test cards that the sandbox's form lists. */
export const listedCards = [
  'succeeds',
  'requires_action',
  'declines',
  'answers_late',
  'loses_answer',
] as const satisfies SandboxBehaviour[];

const lateAnswers = 2;

/** Number of a listed card, in groups of four. */
export function listedCardNumber(behaviour: (typeof listedCards)[number]): string {
  const number = sandboxCardNumber(behaviour, behaviour === 'answers_late' ? lateAnswers : 0);
  return number.replace(/\d{4}(?=\d)/g, '$& ');
}

/** The side of the page on which something is done or told; `heading` is `h1` when it is the page's subject. */
export function panelOf(view: CheckoutPageView, spoken: Spoken): string {
  const { state } = view;
  if (state.kind === 'pay') return payPanel(view, state, spoken);
  if (state.kind === 'confirm') return confirmPanel(view, state, spoken);
  if (state.kind === 'waiting') return waitingPanel(view, state, spoken);
  return endPanel(view, state, spoken);
}

function form(
  view: CheckoutPageView,
  action: 'pay' | 'confirm' | 'cancel' | 'again',
  formToken: string,
  content: string,
): string {
  return html`<form method="post" action="${view.address}/${action}?lang=${view.language}">
<input type="hidden" name="form_token" value="${formToken}">
!${content}
</form>`;
}

function payPanel(view: CheckoutPageView, state: PayState, spoken: Spoken): string {
  const { words } = spoken;
  const isSetup = view.purpose === 'save_method';
  const problem = state.problem === null ? '' : alert(words.problem[state.problem]);
  const way = wayToPay(view, state, spoken);
  return html`<section class="panel" aria-labelledby="panel">
<h2 id="panel">${isSetup ? words.pay.setupTitle : words.pay.title}</h2>
!${problem}
!${way}
!${closing(view, state, spoken)}
</section>`;
}

function wayToPay(view: CheckoutPageView, state: PayState, spoken: Spoken): string {
  const { way } = state;
  if (way.kind === 'sandbox') return cardForm(view, state, spoken);
  if (way.kind === 'card_form') return providerCardForm(view, state, way, spoken);
  return way.kind === 'paddle' ? paddleWay(view, way, spoken) : providerWay(view, state, way, spoken);
}

/** Focused when the page is loaded, so that it is read first. */
function alert(text: string): string {
  return html`<p class="alert" id="problem" role="alert" tabindex="-1" autofocus>!${icon('alert')}<span>${text}</span></p>`;
}

function cardForm(view: CheckoutPageView, state: PayState, spoken: Spoken): string {
  const { words } = spoken;
  const isSetup = view.purpose === 'save_method';
  const isWrong = state.problem === 'card_number';
  const described = isWrong ? 'hint problem' : 'hint';
  const cards = listedCards.map((behaviour) => {
    const number = listedCardNumber(behaviour);
    return html`<button class="card" name="test_card" value="${number.replaceAll(' ', '')}" formnovalidate><span><bdi>${words.testCard[behaviour]}</bdi></span><bdi class="digits" dir="ltr">${number}</bdi></button>`;
  });
  const content = html`<label for="card">${words.pay.card}</label>
<input id="card" class="digits" name="card_number" dir="ltr" inputmode="numeric" autocomplete="off" spellcheck="false" maxlength="30" required aria-describedby="${described}"${isWrong ? ' aria-invalid' : ''}>
<p class="soft" id="hint">${words.pay.hint}</p>
!${consent(view, state, spoken)}
<button class="primary">!${payLabel(view, spoken)}</button>
<fieldset><legend>${isSetup ? words.pay.setupTestCards : words.pay.testCards}</legend>!${cards}</fieldset>`;
  return form(view, 'pay', state.formToken, content);
}

/** A link, because a form that leads to another host is stopped by the page's own policy. */
function providerWay(
  view: CheckoutPageView,
  state: PayState,
  { name, url }: { name: string; url: string },
  spoken: Spoken,
): string {
  const { pay, problem } = spoken.words;
  const address = linkable(url);
  if (address === null) return alert(problem.unreachable);
  const values = { provider: name };
  const text = view.purpose === 'save_method' ? pay.setupProvider : pay.provider;
  return html`<p>!${filled(text, values)}</p>
!${consent(view, state, spoken)}
<a class="primary" href="${address}" rel="noreferrer">!${filled(pay.toProvider, values)}</a>`;
}

/** A button that Paddle's script answers; until that is there it cannot be pressed, and without script it is said that nothing works. */
function paddleWay(
  view: CheckoutPageView,
  { transactionId, script }: { transactionId: string; script: ProviderScript },
  spoken: Spoken,
): string {
  const { pay, problem } = spoken.words;
  const values = { provider: 'Paddle' };
  return html`<p>!${filled(pay.overlay, values)}</p>
<noscript><p class="alert"><span>!${filled(pay.needsScript, values)}</span></p></noscript>
<button class="primary" id="paddle" type="button" disabled data-token="${script.clientToken}" data-environment="${script.isTest ? 'sandbox' : 'production'}" data-transaction="${transactionId}" data-return="${view.address}/return" data-failed="${problem.unreachable}">!${payLabel(view, spoken)}</button>`;
}

/** The end of an open state's panel: the way out, and until when it lasts. */
function closing(view: CheckoutPageView, state: PayState | ConfirmState, { words, format }: Spoken): string {
  const cancel = html`<button class="plain">${words.cancel}</button>`;
  const instant = format.instant(state.expiresAt, view.timezone);
  return html`!${state.canCancel ? form(view, 'cancel', state.formToken, cancel) : ''}
<p class="soft expiry">!${filled(words.expires, { instant })}</p>
<p class="status" id="status" role="status"></p>`;
}

function confirmPanel(view: CheckoutPageView, state: ConfirmState, spoken: Spoken): string {
  const { words, format } = spoken;
  const { order, seller } = view;
  const question =
    order === null
      ? filled(words.confirm.setupText, { seller: seller.name })
      : filled(words.confirm.text, { seller: seller.name, amount: format.money(order.amountDue, order.currency) });
  const card =
    state.cardLastFour === null
      ? ''
      : html`<p class="soft">!${filled(words.confirm.card, { digits: state.cardLastFour })}</p>`;
  const answers = html`<div class="answers"><button class="primary" name="answer" value="confirm">${words.confirm.yes}</button>
<button class="secondary" name="answer" value="fail">${words.confirm.no}</button></div>`;
  return html`<section class="panel bank" aria-labelledby="panel">
!${icon('shield')}
<h2 id="panel" tabindex="-1" autofocus>${order === null ? words.confirm.setupTitle : words.confirm.title}</h2>
<p>!${question}</p>
!${card}
!${form(view, 'confirm', state.formToken, answers)}
<p class="soft">${words.confirm.test}</p>
!${closing(view, state, spoken)}
</section>`;
}

function waitingPanel(view: CheckoutPageView, state: WaitingState, { words }: Spoken): string {
  const title =
    state.cause === 'payment' && view.purpose === 'save_method' ? words.waiting.setup : words.waiting[state.cause];
  return html`<section class="panel result" aria-labelledby="panel">
<span class="spinner" aria-hidden="true"></span>
<h1 id="panel" tabindex="-1" autofocus>${title}</h1>
<p>${words.waiting.text}</p>
<p class="status" id="status" role="status"></p>
<a class="secondary" href="${view.address}?lang=${view.language}">${words.waiting.again}</a>
</section>`;
}

function endPanel(view: CheckoutPageView, state: EndState | RefundedState, spoken: Spoken): string {
  const { words } = spoken;
  const address = linkable(state.returnUrl);
  const back =
    address === null
      ? ''
      : html`<a class="primary" href="${address}" rel="noreferrer">!${filled(words.back, { seller: view.seller.name })}</a>`;
  const { sign, title, sentences } = ending(view, state, spoken);
  const token = 'againToken' in state ? state.againToken : null;
  const again = token ? form(view, 'again', token, html`<button class="primary">${words.payAgain}</button>`) : '';
  return html`<section class="panel result ${sign}" aria-labelledby="panel">
!${icon(sign)}
<h1 id="panel" tabindex="-1" autofocus>${title}</h1>
!${sentences.map((sentence) => html`<p>!${sentence}</p>`)}
!${again}
!${back}
</section>`;
}

interface Ending {
  sign: 'check' | 'clock' | 'cross' | 'return';
  title: string;
  /** HTML. */
  sentences: string[];
}

function ending(view: CheckoutPageView, state: EndState | RefundedState, spoken: Spoken): Ending {
  const { words } = spoken;
  const { seller, purpose } = view;
  const refunded = state.refund === null ? [] : [refundSentence(state.refund, seller.name, spoken)];
  if (state.kind === 'refunded') {
    return { sign: 'return', title: words.refund.title, sentences: [filled(words.refund.text), ...refunded] };
  }
  const twice = refunded.flatMap((sentence) => [filled(words.refund.twice), sentence]);
  if (state.kind === 'done') {
    const title = purpose === 'save_method' ? words.done.setupTitle : words.done.title;
    return { sign: 'check', title, sentences: [filled(words.done[purpose]), ...twice] };
  }
  const { title, text } = words[state.kind];
  const sign = state.kind === 'expired' ? 'clock' : 'cross';
  return { sign, title, sentences: [filled(text, { seller: seller.name })] };
}

function refundSentence(
  { status, amount, currency }: CheckoutRefund,
  seller: string,
  { words, format }: Spoken,
): string {
  return filled(words.refund[status], { amount: format.money(amount, currency), seller });
}
