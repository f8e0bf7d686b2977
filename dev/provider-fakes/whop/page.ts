import { html } from 'ghtml';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import type { FakeConfiguration, FakePlan } from './books.ts';

const cards = [
  ['Pays', sandboxCardNumber('succeeds')],
  ['Is declined', sandboxCardNumber('declines')],
  ['Is decided later', sandboxCardNumber('answers_late', 2)],
] as const;

/** Page of the fake on which a plan is paid with a test card, or a card is saved without one. `outcome` is that of the attempt before. */
export function hostedPage(plan: FakePlan | null, { redirect_url }: FakeConfiguration, outcome: string | null): string {
  const told = outcome === null ? '' : `The last attempt: ${outcome}.`;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Whop fake</title></head>
<body><main><h1>Whop fake</h1><p>No money moves here.</p>
<p>${plan === null ? 'Save a card' : `${plan.title}: ${String(plan.initial_price)} ${plan.currency}`}</p><p role="status">${told}</p>
<form method="post"><label>Test card <select name="card_number">
!${cards.map(([name, number]) => html`<option value="${number}">${name} (${number})</option>`).join('')}
</select></label> <button>${plan === null ? 'Save' : 'Pay'}</button></form>
<p><a href="${redirect_url}">Back without paying</a></p></main></body></html>`;
}
