import { decimal, decimalString, zero } from '../../billing/money/money.ts';
import type { RefundElsewhere } from '../../billing/payment/refund.ts';
import type { ScopedSql } from '../../db/transaction.ts';
import type { PaymentRow } from '../collection/payment-row.ts';

/** Sum that a gateway says was given back of a charge, where it shows no single refunds. */
export interface GivenBack {
  /** Sum of all that went back, by whomever. */
  amount: string;
  /** Recorded refunds as they were before it was asked. */
  asOf: string;
}

/** Refunds of a payment that are recorded as of a moment, as far as its gateway counts them. */
export interface AccountedRefunds {
  /** Sum of those that it paid out, ours and others, and of ours that it may have. */
  amount: string;
  /** Sum of those that were made at the gateway itself. */
  elsewhere: string;
  /** True while a refund of ours is undecided at the gateway, whose sum may hold it or not. */
  isUnderWay: boolean;
  /** Changes with every step of one of them. */
  asOf: string;
}

/** A refund of ours was sent or decided while the gateway was asked, so that its sum says nothing: it is asked again. */
export class RefundsChanged extends Error {
  override readonly name = 'RefundsChanged';
}

/** Counts the recorded refunds of a payment. One that is parked, and so waits for a person, is not under way. */
export async function accountedRefunds(tx: ScopedSql, paymentId: string): Promise<AccountedRefunds> {
  const [row] = await tx.rows<AccountedRow>(accountedText, [tx.scope.environmentId, paymentId]);
  if (!row) throw new Error(`the refunds of payment ${paymentId} could not be counted`);
  return {
    amount: decimalString(decimal(row.amount)),
    elsewhere: decimalString(decimal(row.elsewhere)),
    isUnderWay: row.is_under_way,
    asOf: row.as_of,
  };
}

/**
 * Part of what went back of a locked payment that no recorded refund accounts for: somebody gave it back at the gateway itself. It has a
 * name made of the sum, because the gateway has none. Throws `RefundsChanged` where the sum is older than the records. design: money-in §5
 */
export async function unaccountedRefund(
  tx: ScopedSql,
  payment: PaymentRow,
  { amount, asOf }: GivenBack,
): Promise<RefundElsewhere[]> {
  const accounted = await accountedRefunds(tx, payment.id);
  if (accounted.isUnderWay || accounted.asOf !== asOf) {
    throw new RefundsChanged(`refunds of payment ${payment.id} changed while its gateway was asked`);
  }
  const rest = decimal(amount).minus(accounted.amount);
  if (!rest.greaterThan(zero)) return [];
  const sum = decimalString(decimal(accounted.elsewhere).plus(rest));
  return [
    {
      status: 'succeeded',
      gatewayRefundId: `${payment.gateway_payment_id}/elsewhere:${sum}`,
      amount: decimalString(rest),
      currency: payment.currency,
    },
  ];
}

interface AccountedRow {
  amount: string;
  elsewhere: string;
  is_under_way: boolean;
  as_of: string;
  [column: string]: unknown;
}

const accountedText = `
select coalesce(sum(r.amount) filter (where r.refund_status in ('PROCESSING', 'SUCCEEDED')), 0)::text as amount,
  coalesce(sum(r.amount) filter (where r.metadata ? 'made_at'), 0)::text as elsewhere,
  coalesce(bool_or(r.refund_status = 'PROCESSING' and not exists (
    select from parked_object o where o.environment_id = r.environment_id and o.object_type = 'refund' and o.object_id = r.id)), false) as is_under_way,
  coalesce(string_agg(r.id || ' ' || r.version, ', ' order by r.id), '') as as_of
from refund r where r.environment_id = $1 and r.payment_id = $2 and r.refund_destination = 'GATEWAY'`;
