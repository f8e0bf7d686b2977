import { defineEntity, p } from '@mikro-orm/core';
import { instant, numeric } from '../../rows/columns.ts';

/**
 * Balance of a wallet after usage as it was last told by `wallet.ongoing_balance.updated`, and the version and alert state the
 * wallet had then. spec: wallets-and-payments §2.10
 */
const schema = defineEntity({
  name: 'OngoingBalance',
  tableName: 'ongoing_balance',
  properties: {
    environmentId: p.text().primary(),
    walletId: p.text().primary(),
    tenantId: p.text(),
    balance: numeric(),
    walletVersion: p.integer(),
    alertState: p.text(),
    toldAt: instant(),
  },
});
export class OngoingBalance extends schema.class {}
schema.setClass(OngoingBalance);
