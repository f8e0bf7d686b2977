import { html } from 'ghtml';
import type { Spoken } from './order.ts';
import { filled } from './text.ts';
import type { CheckoutPageView, PayState } from './view.ts';

/** Label of the button by which something is paid or saved, as HTML. */
export function payLabel({ order }: CheckoutPageView, { words, format }: Spoken): string {
  if (order === null) return html`${words.pay.setupButton}`;
  return filled(words.pay.button, { amount: format.money(order.amountDue, order.currency) });
}

/** Sentence by which a payer allows later charges of its card, as HTML; empty where nothing is kept. */
export function consent({ purpose, seller }: CheckoutPageView, { savesMethod }: PayState, { words }: Spoken): string {
  if (purpose === 'save_method')
    return html`<p class="soft">!${filled(words.pay.setupConsent, { seller: seller.name })}</p>`;
  return savesMethod ? html`<p class="soft">!${filled(words.pay.consent, { seller: seller.name })}</p>` : '';
}
