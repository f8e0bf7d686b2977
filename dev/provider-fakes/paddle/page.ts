import { html } from 'ghtml';
import { sandboxCardNumber } from '../../../integrations/sandbox-gateway/card.ts';
import type { FakeTransaction } from './books.ts';

const cards = [
  ['Pays', sandboxCardNumber('succeeds')],
  ['Is declined', sandboxCardNumber('declines')],
  ['Is decided later', sandboxCardNumber('answers_late', 2)],
] as const;

/** Page of the fake on which a transaction is paid with a test card, in a frame over ours as Paddle's is. What is paid leaves the frame. */
export function hostedPage(transaction: FakeTransaction, back: string, outcome: string | null): string {
  const { id, currency_code, details, status } = transaction;
  const told = outcome === null ? '' : `The last attempt: ${outcome}.`;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Paddle fake</title></head>
<body><main><h1>Paddle fake</h1><p>No money moves here.</p>
<p>${id} (${status}): ${details.totals.grand_total} of the smallest unit of ${currency_code}</p><p role="status">${told}</p>
<form method="post" target="_top"><label>Test card <select name="card_number">
!${cards.map(([name, number]) => html`<option value="${number}">${name} (${number})</option>`).join('')}
</select></label> <button>Pay</button></form>
<p><a href="${back}" target="_top">Back without paying</a></p></main></body></html>`;
}

/**
 * The fake's own script: the calls that our page makes of Paddle's, of which opening a transaction lays a frame of the fake over the page. From
 * there it goes on to the address of success. As Paddle's it opens by itself where the page's address names a transaction.
 */
export const fakeScript = `(() => {
  const { origin } = new URL(document.currentScript.src);
  let initialized = null;
  const open = ({ transactionId, settings = {} }) => {
    const { token, checkout = {} } = initialized;
    const { successUrl } = { ...checkout.settings, ...settings };
    const query = new URLSearchParams({ token, back: successUrl });
    const frame = document.createElement('iframe');
    frame.title = 'Paddle fake';
    frame.setAttribute('style', 'position:fixed;inset:0;width:100%;height:100%;border:0;background:#fff');
    frame.src = origin + '/pay/' + transactionId + '?' + query;
    document.body.append(frame);
  };
  window.Paddle = {
    Environment: { set: () => undefined },
    Initialize: (options) => {
      initialized = options;
      const transactionId = new URLSearchParams(window.location.search).get('_ptxn');
      if (transactionId) open({ transactionId });
    },
    Checkout: { open },
  };
})();
`;
