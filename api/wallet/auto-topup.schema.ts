import { z } from 'zod';
import { autoTopupStates } from '../../billing/wallet/auto-topup-standing.ts';
import type { AutoTopupAttempt } from '../../db/entities/wallet/auto-topup-attempt.ts';
import { type AutoTopupState, standingOnWire } from '../../services/topup/auto-topup-standing.ts';
import { listOf, listQuery } from '../list.ts';
import { decimalOutput, recordOutput, timestampOutput, viewRecord } from '../scalars.schema.ts';

/** Why a wallet is not charged, and when it will be. design: money-in-wallets finding 42 */
export const autoTopupStanding = z
  .object({
    state: z.enum(autoTopupStates),
    reason: z.string().nullable(),
    until: timestampOutput().nullable(),
    consecutive_declines: z.int(),
    attempts_24h: z.int(),
    attempts_30d: z.int(),
    month_amount: decimalOutput(),
    month_limit: decimalOutput().nullable(),
    attempt_id: z.string().nullable(),
    invoice_id: z.string().nullable(),
    evaluated_at: timestampOutput().nullable(),
  })
  .meta({
    id: 'AutoTopupStanding',
    examples: [
      {
        state: 'cooling',
        reason: 'cooldown',
        until: '2026-03-01T13:00:00.000Z',
        consecutive_declines: 0,
        attempts_24h: 1,
        attempts_30d: 4,
        month_amount: '100',
        month_limit: '10000',
        attempt_id: null,
        invoice_id: null,
        evaluated_at: '2026-03-01T12:00:00.000Z',
      },
    ],
  });

/** The standing of a wallet; null for one that never filled itself. */
export function viewStanding(state: AutoTopupState | null): z.output<typeof autoTopupStanding> | null {
  return state && standingOnWire(state);
}

const outcome = z.enum(['succeeded', 'declined', 'lapsed', 'voided', 'unknown']);

export const attemptListQuery = listQuery({ outcome: outcome.optional().describe('Attempts that ended so.') });

const attempt = z
  .object({
    ...recordOutput,
    wallet_id: z.string(),
    customer_id: z.string(),
    currency: z.string(),
    number: z.int(),
    opened_at: timestampOutput(),
    credits: decimalOutput(),
    amount: decimalOutput(),
    wallet_transaction_id: z.string(),
    invoice_id: z.string().nullable(),
    payment_id: z.string().nullable(),
    /** Null while it is under way. */
    outcome: outcome.nullable(),
    ended_at: timestampOutput().nullable(),
    decline_reason: z.string().nullable(),
    /** Money came after the decline, and went back. */
    late_capture: z.boolean(),
  })
  .meta({ id: 'AutoTopupAttempt' });
export const attemptList = listOf(attempt, 'ListAutoTopupAttemptsResponse');

export function viewAttempt(row: AutoTopupAttempt): z.output<typeof attempt> {
  return {
    ...viewRecord(row),
    wallet_id: row.walletId,
    customer_id: row.customerId,
    currency: row.currency,
    number: row.number,
    opened_at: row.openedAt,
    credits: row.credits,
    amount: row.amount,
    wallet_transaction_id: row.purchaseId,
    invoice_id: row.invoiceId ?? null,
    payment_id: row.paymentId ?? null,
    outcome: (row.outcome ?? null) as z.output<typeof outcome> | null,
    ended_at: row.endedAt ?? null,
    decline_reason: row.declineReason ?? null,
    late_capture: row.lateCapture,
  };
}

export const resumeBody = z
  .object({ give_up: z.boolean().nullish().describe('Ends the attempt under way, whose gateway is silent.') })
  .nullish()
  .meta({ examples: [{ give_up: false }] });
