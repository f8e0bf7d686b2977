import { defineEntity, p } from '@mikro-orm/core';
import { instant, numeric, recordColumns } from '../../rows/columns.ts';

/** A payment that its payer's bank takes back, or wants to. spec: README decision 39; design: money-in §5 */
const schema = defineEntity({
  name: 'Dispute',
  tableName: 'dispute',
  properties: {
    ...recordColumns,
    paymentId: p.text(),
    paymentGateway: p.text(),
    gatewayDisputeId: p.text(),
    amount: numeric(),
    currency: p.text(),
    disputeStatus: p.text(),
    /** The gateway's word for what the payer says. */
    reason: p.text().nullable(),
    openedAt: instant(),
    evidenceDueAt: instant().nullable(),
    closedAt: instant().nullable(),
    /** The row of the money that a lost one took. */
    refundId: p.text().nullable(),
  },
  uniques: [
    { name: 'dispute_gateway_dispute_unique', properties: ['environmentId', 'paymentGateway', 'gatewayDisputeId'] },
  ],
  indexes: [{ properties: ['environmentId', 'paymentId'] }],
});
export class Dispute extends schema.class {}
schema.setClass(Dispute);
