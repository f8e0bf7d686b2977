// Opens Paddle's checkout over the page, for its transaction and no other. Who has paid is sent to the address that says what is true.
(() => {
  const button = document.getElementById('paddle');
  const { token, environment, transaction, failed } = button.dataset;
  const { Paddle } = window;
  if (!Paddle) {
    document.getElementById('status').textContent = failed;
    return;
  }
  if (environment === 'sandbox') Paddle.Environment.set('sandbox');
  const settings = {
    displayMode: 'overlay',
    locale: document.documentElement.lang,
    successUrl: location.origin + button.dataset.return,
    allowedPaymentMethods: ['card'],
    showAddDiscounts: false,
  };
  Paddle.Initialize({ token, checkout: { settings } });
  button.addEventListener('click', () => Paddle.Checkout.open({ transactionId: transaction, settings }));
  button.disabled = false;
})();
