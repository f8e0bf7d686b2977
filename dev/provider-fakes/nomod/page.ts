import { html } from 'ghtml';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import type { FakeAddresses, FakeCheckout } from './books.ts';

const cards = [
  ['Pays', sandboxCardNumber('succeeds')],
  ['Is declined', sandboxCardNumber('declines')],
  ['Is decided later', sandboxCardNumber('answers_late', 2)],
] as const;

/** Page of the fake on which a checkout is paid with a test card. `outcome` is that of the attempt before. */
export function hostedPage(checkout: FakeCheckout, { cancelled }: FakeAddresses, outcome: string | null): string {
  const { amount, currency, items } = checkout;
  const told = outcome === null ? '' : `The last attempt: ${outcome}.`;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Nomod fake</title></head>
<body><main><h1>Nomod fake</h1><p>No money moves here.</p>
<p>${items.map(({ name }) => String(name)).join(', ')}: ${String(amount)} ${currency}</p><p role="status">${told}</p>
<form method="post"><label>Test card <select name="card_number">
!${cards.map(([name, number]) => html`<option value="${number}">${name} (${number})</option>`).join('')}
</select></label> <button>Pay</button></form>
<p><a href="${cancelled}">Back without paying</a></p></main></body></html>`;
}
