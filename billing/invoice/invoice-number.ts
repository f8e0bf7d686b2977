import { dateOf, epochMs, localTime } from '../time/local-time.ts';

export type InvoiceNumberFormat = 'YYYYMM' | 'YYYYMMDD' | 'YYMMDD' | 'YY' | 'YYYY';

/** The setting invoice_config, as far as numbers go. spec: subscriptions-and-invoicing §2.15.5 */
export interface InvoiceNumberConfig {
  prefix: string;
  format: InvoiceNumberFormat;
  startSequence: number;
  timezone: string;
  separator: string;
  suffixLength: number;
}

export const defaultInvoiceNumberConfig: InvoiceNumberConfig = {
  prefix: 'INV',
  format: 'YYYYMM',
  startSequence: 1,
  timezone: 'UTC',
  separator: '-',
  suffixLength: 5,
};

/** The finalization's local date in the configured format; each key counts its own sequence. spec: §2.15.5 */
export function invoiceDateKey(finalizedAt: string, config: InvoiceNumberConfig): string {
  const { year, month, day } = dateOf(localTime(epochMs(finalizedAt), config.timezone));
  const parts = { YYYY: padded(year, 4), YY: padded(year % 100, 2), MM: padded(month, 2), DD: padded(day, 2) };
  return config.format.replace(/YYYY|YY|MM|DD/g, (token) => parts[token as keyof typeof parts]);
}

/** The sequence after the last one given under a date key; the configured start when there is none. spec: §2.15.5 */
export function nextInvoiceSequence(last: number | null, config: InvoiceNumberConfig): number {
  return last === null ? config.startSequence : last + 1;
}

/** Prefix, date key and padded sequence; a longer sequence is printed whole. spec: subscriptions-and-invoicing §2.15.5 */
export function invoiceNumber(dateKey: string, sequence: number, config: InvoiceNumberConfig): string {
  return [config.prefix, dateKey, padded(sequence, config.suffixLength)].join(config.separator);
}

function padded(value: number, length: number): string {
  return String(value).padStart(length, '0');
}
