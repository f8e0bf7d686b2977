import { type Notes, RazorpayRefusal } from './books.ts';

export type Parameters = Readonly<Record<string, unknown>>;

/** The parameters of a request; throws a refusal for what is no JSON object. */
export function parseParameters(text: string): Parameters {
  if (text === '') return {};
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new RazorpayRefusal('invalid input');
  return value as Parameters;
}

/** Refuses parameters that Razorpay does not know. */
export function allow(parameters: Parameters, known: readonly string[]): void {
  const extra = Object.keys(parameters).find((name) => !known.includes(name));
  if (extra !== undefined) throw new RazorpayRefusal(`${extra} is/are not required and should not be sent`);
}

export function text(parameters: Parameters, name: string, longest = 2048): string {
  const value = parameters[name];
  if (typeof value !== 'string' || value === '') {
    throw new RazorpayRefusal(`The ${name} field is required.`, { field: name });
  }
  if (value.length > longest)
    throw new RazorpayRefusal(`${name}: the length must be no more than ${longest}.`, { field: name });
  return value;
}

/** Refuses what is there and is not one of the values. */
export function only(parameters: Parameters, name: string, values: readonly unknown[]): void {
  const value = parameters[name];
  if (value !== undefined && !values.includes(value)) throw new RazorpayRefusal(`${name} is invalid`, { field: name });
}

/** Notes within Razorpay's limits: 15 names with values of 255 characters. */
export function notesOf(parameters: Parameters): Notes {
  const notes = (parameters.notes ?? []) as Record<string, unknown> | [];
  if (Array.isArray(notes)) return [];
  const entries = Object.entries(notes);
  if (entries.length > 15) throw new RazorpayRefusal('notes: only 15 are allowed', { field: 'notes' });
  for (const [, value] of entries) {
    if (typeof value !== 'string' || value.length > 255) {
      throw new RazorpayRefusal('value: the length must not be greater than 255.', { field: 'notes' });
    }
  }
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
}

/** The one way of paying that a page offers; the fake has cards and UPI, which is for rupees alone. */
export function methodOf({ options }: Parameters, currency: string): 'card' | 'upi' {
  const { method } = (options as { checkout?: { method?: Record<string, unknown> } } | undefined)?.checkout ?? {};
  const { card, netbanking, upi, wallet, ...others } = method ?? {};
  const isKnown = [card, netbanking, upi, wallet].every((each) => typeof each === 'boolean');
  if (!isKnown || Object.keys(others).length > 0 || netbanking || wallet || card === upi) {
    throw new RazorpayRefusal('wrong input fields sent.', { field: 'options' });
  }
  if (upi && currency !== 'INR') throw new RazorpayRefusal('upi is currently supported only in indian currency');
  return upi ? 'upi' : 'card';
}

const thousandths = ['BHD', 'IQD', 'JOD', 'KWD', 'OMR', 'TND'];

export function currencyOf(parameters: Parameters): string {
  const currency = text(parameters, 'currency');
  if (!/^[A-Z]{3}$/.test(currency)) throw new RazorpayRefusal('The currency is not supported', { field: 'currency' });
  return currency;
}

/** A whole amount in Razorpay's units, by the rules of its currencies. */
export function amountOf(parameters: Parameters, currency: string): number {
  const { amount } = parameters;
  if (typeof amount !== 'number' || !Number.isSafeInteger(amount)) {
    throw new RazorpayRefusal('The amount must be an integer.', { field: 'amount' });
  }
  if (amount < 1 || (currency === 'INR' && amount < 100)) {
    throw new RazorpayRefusal('The amount must be atleast INR 1.00', { field: 'amount' });
  }
  if (thousandths.includes(currency) && amount % 10 !== 0) {
    throw new RazorpayRefusal('The last digit of the amount must be 0', { field: 'amount' });
  }
  return amount;
}
