import { createHash } from 'node:crypto';
import { failureSentence, isCheckoutActive } from '../billing/checkout.ts';
import type { CheckoutPage } from '../db/stores/checkout/checkout-page.ts';

const style = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}body{margin:0;display:grid;place-items:start center}main{width:min(28rem,100% - 2rem);margin:2rem 0}
h1{font-size:1.25rem}table{width:100%;border-collapse:collapse}td{padding:.4rem 0;border-bottom:1px solid #8884}td:last-child{text-align:right}
label{display:block;margin:1rem 0 .25rem}input,button{font:inherit;box-sizing:border-box;width:100%;padding:.6rem;border:1px solid #888;border-radius:.4rem}
button{margin-top:1rem;cursor:pointer}.note{padding:.75rem;border:1px solid #8886;border-radius:.4rem}`;

/** What a page knows beside its session. */
export interface PageRequest {
  /** Path of the page. */
  address: string;
  formToken: string;
  /** An attempt that waits for its payer; null for none. */
  attempt: string | null;
  isTest: boolean;
}

/** The policy under which a page is shown: its own style and its own forms, nothing else. design: web §1 */
export const pagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** The payment page of a session in each of its states, without script. spec: wallets-and-payments §2.17; design: money-in §3 */
export function renderCheckoutPage(page: CheckoutPage, request: PageRequest): string {
  const amount = `${page.amount} ${page.currency.toUpperCase()}`;
  const isActive = isCheckoutActive(page.checkoutStatus);
  const body = isActive
    ? `${orderOf(page)}${request.attempt ? confirmForm(request) : payForm(page, request, amount)}`
    : endOf(page, request);
  return documentOf(
    `${page.seller}: ${amount}`,
    `<h1>${text(page.seller)}</h1><p><strong>${text(amount)}</strong></p>${body}`,
  );
}

/** The page of a token that opens nothing, or nothing any more. */
export function renderNoPage(): string {
  return documentOf(
    'Not found',
    '<h1>This page is not available</h1><p>The address is wrong, or the page has ended.</p>',
  );
}

function orderOf({ lines, expiresAt }: CheckoutPage): string {
  const rows = lines.map(({ name, amount }) => `<tr><td>${text(name)}</td><td>${text(amount)}</td></tr>`).join('');
  return `<table>${rows}</table><p>This page can be paid until <time datetime="${text(expiresAt)}">${text(expiresAt)}</time>.</p>`;
}

function payForm(page: CheckoutPage, request: PageRequest, amount: string): string {
  const declined = page.declines > 0 ? '<p class="note" role="alert">The card was declined. Try another card.</p>' : '';
  const test = request.isTest ? '<p>Test mode: use 4000 0000 0000 0002. No money moves.</p>' : '';
  return `${declined}${form(request, 'pay', `<label for="card">Card number</label><input id="card" name="card_number" inputmode="numeric" autocomplete="cc-number" required>${test}<button>Pay ${text(amount)}</button>`)}${form(request, 'cancel', '<button>Cancel</button>')}`;
}

function confirmForm(request: PageRequest): string {
  const attempt = `<input type="hidden" name="attempt" value="${text(request.attempt ?? '')}">`;
  const button = (action: string, label: string) => `<button name="action" value="${action}">${label}</button>`;
  return `<p class="note">Your bank asks you to confirm this payment.</p>${form(request, 'confirm', `${attempt}${button('confirm', 'Confirm')}${button('fail', 'Refuse')}`)}`;
}

function form({ address, formToken }: PageRequest, action: string, content: string): string {
  return `<form method="post" action="${text(address)}/${action}"><input type="hidden" name="form_token" value="${text(formToken)}">${content}</form>`;
}

function endOf(page: CheckoutPage, request: PageRequest): string {
  const paid = page.checkoutStatus === 'completed';
  const words = paid ? 'Paid. Thank you.' : (failureSentence(page.failureReason) ?? 'This page has ended.');
  const target = paid ? page.successUrl : (page.failureUrl ?? page.cancelUrl);
  const back = target ? `<p><a href="${text(request.address)}/return">Continue</a></p>` : '';
  return `<p class="note" role="status">${text(words)}</p>${back}`;
}

function documentOf(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex"><title>${text(title)}</title><style>${style}</style></head><body><main>${body}</main></body></html>`;
}

function text(value: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return value.replaceAll(/[&<>"']/g, (character) => entities[character]!);
}
