import { defaultInvoiceNumberConfig, type InvoiceNumberConfig } from './invoice-number.ts';

/** The setting `invoice_config` with its defaults. spec: subscriptions-and-invoicing §2.15.4–2.15.6 */
export interface InvoiceConfig extends InvoiceNumberConfig {
  dueDateDays: number;
  finalizationDelaySeconds: number;
}

/** The effective configuration of an environment from what it stored, or the defaults. */
export function invoiceConfig(stored: Record<string, unknown> | null): InvoiceConfig {
  const value = stored ?? {};
  const defaults = defaultInvoiceNumberConfig;
  const text = (key: string, fallback: string) => (typeof value[key] === 'string' ? value[key] : fallback);
  const integer = (key: string, fallback: number) =>
    Number.isInteger(Number(value[key] ?? Number.NaN)) ? Number(value[key]) : fallback;
  return {
    prefix: text('prefix', defaults.prefix),
    format: text('format', defaults.format) as InvoiceConfig['format'],
    startSequence: integer('start_sequence', defaults.startSequence),
    timezone: text('timezone', '') || defaults.timezone,
    separator: text('separator', defaults.separator),
    suffixLength: integer('suffix_length', defaults.suffixLength),
    dueDateDays: integer('due_date_days', 1),
    finalizationDelaySeconds: integer('finalization_delay_seconds', 7200),
  };
}
