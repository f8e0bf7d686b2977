import { defineEntity, p } from '@mikro-orm/core';
import type { AutoTopupState, PauseReason } from '../../../billing/wallet/auto-topup-standing.ts';
import { instant, recordColumns } from '../../rows/columns.ts';

/**
 * How a wallet's automatic top-ups stand; its id is the wallet's. It stays when they are switched off, so that pauses and declines
 * survive that. `evaluateAt` is when it is to be looked at, also before its wait ends. design: money-in §1
 */
const schema = defineEntity({
  name: 'WalletAutoTopup',
  tableName: 'wallet_auto_topup',
  properties: {
    ...recordColumns,
    customerId: p.text(),
    currency: p.text(),
    testClockId: p.text().nullable(),
    state: p.text().$type<AutoTopupState>(),
    reason: p.text().nullable(),
    until: instant().nullable(),
    pause: p.text().$type<PauseReason>().nullable(),
    consecutiveDeclines: p.integer().default(0),
    /** Number of the latest attempt. */
    attempts: p.integer().default(0),
    evaluateAt: instant().nullable(),
    evaluatedAt: instant().nullable(),
    version: p.integer().default(1),
  },
  indexes: [{ properties: ['environmentId', 'customerId'] }, { properties: ['environmentId', 'state'] }],
});
export class WalletAutoTopup extends schema.class {}
schema.setClass(WalletAutoTopup);
