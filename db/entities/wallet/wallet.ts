import { defineEntity, p } from '@mikro-orm/core';
import { metadata, numeric, recordColumns } from '../../rows/columns.ts';

/** How a wallet fills itself. Credits as decimal texts, the pause in nanoseconds. spec: wallets-and-payments §1.1 */
export interface AutoTopup {
  enabled: boolean;
  amount: string | null;
  threshold: string | null;
  invoicing: boolean;
  cooldown: string | null;
  /** Own: how top-ups are paid, decided when they are switched on. design: money-in-wallets finding 3 */
  collection?: 'charge' | 'invoice' | 'elsewhere';
  /** Own: one top-up covers the whole shortfall. */
  cover_shortfall?: boolean;
  /** Own: days that an invoice waits for its payer. */
  invoice_lifetime_days?: number;
  /** Own: top-ups by hand are taken while an automatic one is being charged. */
  allow_concurrent?: boolean;
}

/**
 * A customer's balance in credits. `version` counts every change and every entry of the ledger, whose order it is.
 * spec: wallets-and-payments §1.1
 */
const schema = defineEntity({
  name: 'Wallet',
  tableName: 'wallet',
  properties: {
    ...recordColumns,
    customerId: p.text(),
    name: p.text(),
    description: p.text().nullable(),
    currency: p.text(),
    walletStatus: p.text(),
    walletType: p.text(),
    balance: numeric(),
    creditBalance: numeric(),
    conversionRate: numeric(),
    topupConversionRate: numeric(),
    allowedPriceTypes: p.json<string[]>(),
    autoTopup: p.json<AutoTopup>().nullable(),
    alertSettings: p.json<Record<string, unknown>>().nullable(),
    alertState: p.text().default('ok'),
    metadata: metadata(),
    version: p.integer().default(1),
  },
  uniques: [
    {
      name: 'wallet_live_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.customerId}, ${c.currency}, ${c.walletType}) where ${c.walletStatus} <> 'closed' and ${c.status} = 'published'`,
    },
  ],
  indexes: [{ properties: ['environmentId', 'createdAt', 'id'] }],
});
export class Wallet extends schema.class {}
schema.setClass(Wallet);
