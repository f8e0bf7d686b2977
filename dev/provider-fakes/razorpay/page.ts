import { html } from 'ghtml';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import type { FakeLink } from './books.ts';

const cards = [
  ['Pays', sandboxCardNumber('succeeds')],
  ['Is declined', sandboxCardNumber('declines')],
  ['Is decided later', sandboxCardNumber('answers_late', 2)],
] as const;

/** Page of the fake on which a link is paid with a test card. `outcome` is that of the attempt before. */
export function hostedPage(
  {
    amount,
    currency,
    description,
    status,
    method,
  }: Pick<FakeLink, 'amount' | 'currency' | 'description' | 'method'> & { status: string },
  outcome: string | null,
): string {
  const told = outcome === null ? '' : `The last attempt: ${outcome}.`;
  const form = html`<form method="post"><label>Test ${method === 'upi' ? 'UPI account' : 'card'} <select name="card_number">
!${cards.map(([name, number]) => html`<option value="${number}">${name} (${number})</option>`).join('')}
</select></label> <button>Pay</button></form>`;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Razorpay fake</title></head>
<body><main><h1>Razorpay fake</h1><p>No money moves here.</p><p>${description}: ${amount} of the smallest unit of ${currency}</p>
<p role="status">${told}</p>!${['created', 'issued'].includes(status) ? form : html`<p>This payment link is ${status}.</p>`}</main></body></html>`;
}
