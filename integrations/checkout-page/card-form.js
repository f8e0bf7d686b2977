// Sends the card of the form to its provider and to nobody else. The page's own server is told the token that stands for it, before the
// payer goes on to its bank: so a payer who does not come back has saved it all the same. Cards that failed can be tried anew.
(() => {
  const form = document.getElementById('card-form');
  const button = form.querySelector('button');
  const status = document.getElementById('status');
  const { tokens, key, reference, kept, formToken, refused, failed } = form.dataset;
  const patienceMs = 30_000;

  /** Digits of any script as those of a card. */
  function digits(id) {
    const { value } = document.getElementById(id);
    return value.replace(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => digit.charCodeAt(0) & 15).replace(/\D/g, '');
  }

  /** The token of the card and where its payer confirms it; null where the provider does not take it. */
  async function keepCard() {
    const expiry = digits('expiry');
    const card = {
      name: document.getElementById('name').value,
      number: digits('card'),
      month: expiry.slice(0, 2),
      year: expiry.slice(2),
      cvc: digits('code'),
      callback_url: location.origin + form.dataset.return,
      metadata: { perennial_token: reference },
    };
    const answer = await fetch(tokens, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${key}:`)}`, 'content-type': 'application/json' },
      body: JSON.stringify(card),
      credentials: 'omit',
      signal: AbortSignal.timeout(patienceMs),
    });
    if (answer.ok) return answer.json();
    if (answer.status === 429 || answer.status >= 500) throw new Error(answer.statusText);
    return null;
  }

  async function tellKept(methodToken) {
    const body = new URLSearchParams({ form_token: formToken, method_token: methodToken });
    const answer = await fetch(kept, { method: 'POST', body, signal: AbortSignal.timeout(patienceMs) });
    if (!answer.ok) throw new Error(answer.statusText);
  }

  async function save() {
    const token = await keepCard();
    if (token === null) return refused;
    await tellKept(token.id);
    const next = new URL(token.verification_url || form.dataset.return, location.href);
    if (!/^https?:$/.test(next.protocol)) return failed;
    location.assign(next.href);
    return null;
  }

  form.addEventListener('submit', async (event) => {
    // This form sends nothing to the page's server, and a failed card is no form that was sent.
    event.preventDefault();
    event.stopPropagation();
    if (button.disabled) return;
    button.disabled = true;
    status.textContent = document.body.dataset.busy;
    const problem = await save().catch(() => failed);
    if (problem === null) return;
    status.textContent = problem;
    button.disabled = false;
  });
  button.disabled = false;
})();
