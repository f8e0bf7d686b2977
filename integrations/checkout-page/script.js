// The page works without it. It groups the digits of a card, keeps a button from being pressed twice, and asks how a payment
// stands while the page waits. Words and addresses are in the page's data attributes, so that the text here never changes.
(() => {
  const { body } = document;
  const status = document.getElementById('status');

  /** Told to screen readers, once per change. */
  function say(text) {
    if (status && status.textContent !== text) status.textContent = text;
  }

  let isSent = false;
  document.addEventListener('submit', (event) => {
    if (isSent) {
      event.preventDefault();
      return;
    }
    isSent = true;
    say(body.dataset.busy);
    const { submitter } = event;
    // A disabled button is not sent: the browser collects the form's fields first.
    setTimeout(() => {
      submitter?.setAttribute('data-pressed', '');
      for (const button of document.querySelectorAll('button')) button.disabled = true;
    });
  });
  // Gone back to: what the browser kept of the page may be long over.
  addEventListener('pageshow', (event) => {
    if (event.persisted) location.reload();
  });

  /** Digits of any script as those of a card. */
  function cardDigits(text) {
    return text.replace(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => digit.charCodeAt(0) & 15).replace(/\D/g, '');
  }

  const card = document.getElementById('card');
  card?.addEventListener('input', () => {
    const before = cardDigits(card.value.slice(0, card.selectionStart)).length;
    card.value = cardDigits(card.value)
      .slice(0, 19)
      .replace(/\d{4}(?=\d)/g, '$& ');
    const caret = before + Math.floor(Math.max(before - 1, 0) / 4);
    card.setSelectionRange(caret, caret);
  });

  const { progress, pollAfterMs } = body.dataset;
  if (!progress) return;
  let waitMs = Number(pollAfterMs);
  let timer;

  function askAfter(ms) {
    clearTimeout(timer);
    timer = setTimeout(ask, ms);
  }

  async function ask() {
    try {
      const answer = await fetch(progress, { cache: 'no-store', signal: AbortSignal.timeout(15_000) });
      if (answer.status === 429 || answer.status >= 500) throw new Error(answer.statusText);
      const { state, next_poll_after_ms } = answer.ok ? await answer.json() : {};
      if (state !== 'waiting') {
        location.replace(body.dataset.page);
        return;
      }
      say('');
      waitMs = Math.max(Number(next_poll_after_ms) || 0, 1000);
    } catch {
      say(body.dataset.offline);
      waitMs = Math.min(waitMs * 2, 60_000);
    }
    askAfter(waitMs);
  }

  askAfter(waitMs);
  // A hidden page is slowed down by its browser; whoever comes back wants to know.
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) askAfter(0);
  });
})();
