import { html } from 'ghtml';
import type { ProviderCardForm } from '../provider-adapter.ts';
import type { Spoken } from './order.ts';
import { consent, payLabel } from './pay-label.ts';
import { filled } from './text.ts';
import type { CheckoutPageView, PayState } from './view.ts';

/**
 * A card form whose script sends the card to its provider. Its fields have no names and it has no address, so that a browser without that
 * script has nothing to send to us. design: money-in-checkout §C moyasar
 */
export function providerCardForm(
  view: CheckoutPageView,
  state: PayState,
  { reference, form }: { reference: string; form: ProviderCardForm },
  spoken: Spoken,
): string {
  const { pay, problem } = spoken.words;
  const values = { provider: form.provider };
  const field = (id: string, label: string, attributes: string) => html`<label for="${id}">${label}</label>
<input id="${id}" dir="ltr" spellcheck="false" required !${attributes}>`;
  return html`<noscript><p class="alert"><span>!${filled(pay.cardNeedsScript, values)}</span></p></noscript>
<form id="card-form" data-tokens="${form.tokensUrl}" data-key="${form.publishableKey}" data-reference="${reference}" data-kept="${view.address}/kept" data-form-token="${state.formToken}" data-return="${view.address}/return" data-refused="${pay.cardRefused}" data-failed="${problem.unreachable}">
!${field('name', pay.cardName, 'autocomplete="cc-name" maxlength="255"')}
!${field('card', pay.card, 'class="digits" inputmode="numeric" autocomplete="cc-number" maxlength="30"')}
!${field('expiry', pay.cardExpiry, 'class="digits" inputmode="numeric" autocomplete="cc-exp" maxlength="9" placeholder="MM / YY"')}
!${field('code', pay.cardCode, 'class="digits" inputmode="numeric" autocomplete="cc-csc" maxlength="4"')}
<p class="soft">!${filled(pay.cardGoesTo, values)}</p>
!${consent(view, state, spoken)}
<button class="primary" disabled>!${payLabel(view, spoken)}</button>
</form>`;
}
