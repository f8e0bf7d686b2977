import { defineEntity, p } from '@mikro-orm/core';
import { numeric } from '../../rows/columns.ts';

/** Completed credits of a wallet on one day in UTC of its customer's clock: what percentages are of. design: money-in-wallets finding 54 */
const schema = defineEntity({
  name: 'WalletCreditDay',
  tableName: 'wallet_credit_day',
  properties: {
    environmentId: p.text().primary(),
    walletId: p.text().primary(),
    day: p.date().primary(),
    tenantId: p.text(),
    credits: numeric(),
  },
});
export class WalletCreditDay extends schema.class {}
schema.setClass(WalletCreditDay);
