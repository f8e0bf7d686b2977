import { html } from 'ghtml';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import type { FakeInvoice } from './books.ts';

const cards = [
  ['Pays', sandboxCardNumber('succeeds')],
  ['Is declined', sandboxCardNumber('declines')],
  ['Is decided later', sandboxCardNumber('answers_late', 2)],
] as const;

/** Page of the fake on which an invoice is paid with a test card. `outcome` is that of the attempt before. */
export function hostedPage(invoice: FakeInvoice, outcome: string | null): string {
  const { amount, currency, description, back_url, success_url } = invoice;
  const told = outcome === null ? '' : `The last attempt: ${outcome}.`;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Moyasar fake</title></head>
<body><main><h1>Moyasar fake</h1><p>No money moves here.</p>
<p>${description}: ${String(amount)} of the smallest unit of ${currency}</p><p role="status">${told}</p>
<form method="post"><label>Test card <select name="card_number">
!${cards.map(([name, number]) => html`<option value="${number}">${name} (${number})</option>`).join('')}
</select></label> <button>Pay</button></form>
<p><a href="${back_url ?? success_url}">Back without paying</a></p></main></body></html>`;
}

/** Page of the fake that takes the place of a payer's bank. */
export function verifyPage(): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Moyasar fake</title></head>
<body><main><h1>Moyasar fake</h1><p>This page takes the place of your bank.</p>
<form method="post"><button name="answer" value="confirm">Confirm</button> <button name="answer" value="fail">Refuse</button></form>
</main></body></html>`;
}
