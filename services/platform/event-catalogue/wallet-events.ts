import { z } from 'zod';
import { decimal, type EventOf, eventFamily, instant, metadata } from './event-family.ts';

const walletMembers = {
  id: z.string(),
  customer_id: z.string(),
  currency: z.string(),
  balance: decimal(),
  credit_balance: decimal(),
  wallet_status: z.string(),
  name: z.string(),
  wallet_type: z.string(),
  conversion_rate: decimal(),
};
const wallet = z.strictObject(walletMembers).meta({ id: 'OutboundWalletBalance' });

const autoTopupStanding = z
  .strictObject({
    state: z.string(),
    reason: z.string().nullable(),
    until: instant().nullable(),
    consecutive_declines: z.int(),
    attempts_24h: z.int(),
    attempts_30d: z.int(),
    month_amount: decimal(),
    month_limit: decimal().nullable(),
    attempt_id: z.string().nullable(),
    invoice_id: z.string().nullable(),
    evaluated_at: instant().nullable(),
  })
  .meta({ id: 'OutboundAutoTopupStanding' });

export const walletEvents = eventFamily({
  entityType: 'wallet',
  payload: z.strictObject({
    wallet: z
      .strictObject({ ...walletMembers, auto_topup_standing: autoTopupStanding.optional() })
      .meta({ id: 'OutboundWallet' }),
  }),
  events: {
    'wallet.created': 'A wallet was created.',
    'wallet.updated': 'A wallet was changed, or its automatic top-up came to a standing that somebody should know of.',
    'wallet.terminated': 'A wallet was terminated.',
  },
});

export type WalletEvent = EventOf<typeof walletEvents>;

const level = () => z.strictObject({ condition: z.enum(['above', 'below']), threshold: decimal() }).nullable();

const balanceAlert = z
  .strictObject({
    state: z.enum(['ok', 'info', 'warning', 'in_alarm']),
    current_balance: z.number(),
    credit_balance: z.number(),
    alert_type: z.enum(['low_credit_balance', 'low_ongoing_balance']),
    alert_settings: z.strictObject({
      alert_enabled: z.boolean(),
      alert_threshold_type: z.enum(['absolute', 'percentage']),
      critical: level(),
      warning: level(),
      info: level(),
    }),
  })
  .meta({ id: 'OutboundBalanceAlert' });

export const balanceEvents = eventFamily({
  entityType: 'wallet',
  payload: z.strictObject({ wallet, alert: balanceAlert }),
  events: {
    'wallet.credit_balance.dropped': 'The balance of a wallet fell to a threshold of its alert.',
    'wallet.credit_balance.recovered': 'The balance of a wallet is above the thresholds of its alert again.',
    'wallet.ongoing_balance.dropped': 'The balance of a wallet after usage under way fell to a threshold of its alert.',
    'wallet.ongoing_balance.recovered':
      'The balance of a wallet after usage under way is above the thresholds of its alert again.',
    'wallet.ongoing_balance.updated':
      'The balance of a wallet after usage under way is another than was told; at most once in 330 seconds while it only follows usage.',
  },
});

export type BalanceEvent = EventOf<typeof balanceEvents>;

const transaction = z
  .strictObject({
    id: z.string(),
    wallet_id: z.string(),
    customer_id: z.string(),
    type: z.enum(['credit', 'debit']),
    amount: decimal(),
    credit_amount: decimal(),
    credit_balance_before: decimal(),
    credit_balance_after: decimal(),
    currency: z.string(),
    transaction_status: z.string(),
    transaction_reason: z.string(),
    reference_type: z.string().nullable(),
    reference_id: z.string().nullable(),
    description: z.string().nullable(),
    expiry_date: instant().nullable(),
    metadata: metadata(),
  })
  .meta({ id: 'OutboundWalletTransaction' });

export const walletTransactionEvents = eventFamily({
  entityType: 'wallet_transaction',
  payload: z.strictObject({ transaction }),
  events: {
    'wallet.transaction.created': 'A wallet was credited or debited, or a purchase of credits was opened.',
  },
});

/** Both names of the object say the same: the published one, and the one of the other event. spec: platform §17.2 */
export const settledTransactionEvents = eventFamily({
  entityType: 'wallet_transaction',
  payload: z.strictObject({ updated_transaction: transaction, transaction }),
  events: {
    'wallet.transaction.updated': 'A purchase of credits was completed or failed.',
  },
});

export type WalletTransactionEvent = EventOf<typeof walletTransactionEvents>;
export type SettledTransactionEvent = EventOf<typeof settledTransactionEvents>;

const featureAlert = z
  .strictObject({
    alert_type: z.literal('feature_wallet_balance'),
    alert_status: z.enum(['ok', 'info', 'warning', 'in_alarm']),
    feature_id: z.string(),
    wallet_id: z.string(),
    customer_id: z.string(),
    current_balance: decimal(),
    credit_balance: decimal(),
  })
  .meta({ id: 'OutboundFeatureAlert' });

export const featureAlertEvents = eventFamily({
  entityType: 'feature',
  payload: z.strictObject({ alert: featureAlert, ...featureAlert.shape }),
  events: {
    'feature.wallet_balance.alert': 'The alert of a feature on the balance of a wallet changed its state.',
  },
});

export type FeatureAlertEvent = EventOf<typeof featureAlertEvents>;
