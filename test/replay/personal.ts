/** What the recording's customers and prices hold and no history may: a test looks for each of them. */
export const personal = {
  name: 'Ada Lovelace',
  email: 'ada.lovelace@example.com',
  fee: '7319.37',
  perCall: '0.0613',
} as const;
