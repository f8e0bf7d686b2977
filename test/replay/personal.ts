/** Texts and amounts that the recording sends through the API, and no history may hold: a test looks for each of them. */
export const personal = {
  name: 'Ada Lovelace',
  email: 'ada.lovelace@example.com',
  fee: '7319.37',
  perCall: '0.0613',
  externalId: 'SECRET-of-a-customer',
  eventName: 'SECRET-event',
  reason: 'SECRET reason: moves to Utrecht',
  note: 'SECRET note of the caller',
  text: 'SECRET line of an invoice',
  amount: '4711.23',
} as const;
