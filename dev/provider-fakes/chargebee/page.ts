import { html } from 'ghtml';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import type { FakeOrder } from './books.ts';

const cards = [
  ['Pays', sandboxCardNumber('succeeds')],
  ['Is declined', sandboxCardNumber('declines')],
  ['Is decided later', sandboxCardNumber('answers_late', 2)],
] as const;

/** Page of the fake on which an order is paid with a test card. `outcome` is that of the attempt before. */
export function hostedPage({ amount, currency, description, cancelUrl }: FakeOrder, outcome: string | null): string {
  const told = outcome === null ? '' : `The last attempt: ${outcome}.`;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Chargebee fake</title></head>
<body><main><h1>Chargebee fake</h1><p>No money moves here.</p>
<p>${amount === 0 ? description : `${description}: ${String(amount)} of the smallest unit of ${currency}`}</p><p role="status">${told}</p>
<form method="post"><label>Test card <select name="card_number">
!${cards.map(([name, number]) => html`<option value="${number}">${name} (${number})</option>`).join('')}
</select></label> <button>Pay</button></form>
<p><a href="${cancelUrl}">Back without paying</a></p></main></body></html>`;
}
