import { advanceClock, makeCustomer } from '../../bench/account.ts';
import { type SandboxBehaviour, sandboxCardNumber } from '../../integrations/sandbox-gateway/card.ts';
import { retry } from '../../workflows/lifecycle.messages.ts';
import { autoTopUpWorkflowId } from '../../workflows/wallet/auto-top-up.messages.ts';
import { asOwner, newExternalId, type Stage, start, until } from './stage.ts';

interface Filling {
  customerId: string;
  walletId: string;
  clockId: string;
}

const after = (hours: number) => new Date(Date.parse(start) + hours * 3_600_000).toISOString();

/**
 * Wallets that fill themselves: charged and waiting for an hour, declined until they pause and rearmed by a new card, asked for by hand,
 * an invoice that nobody pays and one whose payer has to confirm, both of which lapse, and a wallet that is closed.
 */
export async function walletsFilled(stage: Stage): Promise<void> {
  const { api } = stage.platform;
  const charged = await filling(stage, {}, 'succeeds');
  await becomes(stage, charged, 'cooling');
  await api('POST', `/wallets/${charged.walletId}/auto-topup/retry`);
  await advanceClock(api, charged.clockId, after(3));
  await api('POST', `/wallets/${charged.walletId}/terminate`);

  const declined = await filling(stage, { invoicing: false }, 'declines');
  await becomes(stage, declined, 'backing_off');
  await advanceClock(api, declined.clockId, after(40));
  await becomes(stage, declined, 'paused');
  await api('POST', `/wallets/${declined.walletId}/auto-topup/resume`);
  await api('PUT', '/settings/auto_topup_limits', { value: { succeeded_per_day: 20 } });
  const method = { card_number: sandboxCardNumber('succeeds'), set_default: true };
  await api('POST', `/customers/${declined.customerId}/payment-methods`, method);
  await advanceClock(api, declined.clockId, after(60));

  const unpaid = await filling(stage, { invoice_lifetime_days: 1 });
  await becomes(stage, unpaid, 'awaiting_payment');
  await advanceClock(api, unpaid.clockId, after(80));
  const asked = await filling(stage, {}, 'requires_action');
  await becomes(stage, asked, 'needs_action');
  await withoutPolls(stage, asked);
  await advanceClock(api, asked.clockId, after(24.5));
}

/** The day in which a payer may confirm passes without the questions to its gateway, which make a history long. */
async function withoutPolls(stage: Stage, { customerId }: Filling): Promise<void> {
  await asOwner(
    stage,
    `update agenda_entry set due_at = due_at + interval '2 days' where object_type = 'payment' and customer_id = $1`,
    [customerId],
  );
}

/** A gateway that is silent: it is asked again, given up by a person, and takes the money late. And a look that fails, is parked and retried. */
export async function topUpGivenUp(stage: Stage): Promise<void> {
  const { api, gateway, temporal } = stage.platform;
  const silent = await filling(stage, {}, 'never_answers');
  await becomes(stage, silent, 'charging');
  await advanceClock(api, silent.clockId, after(25));
  await api('POST', `/wallets/${silent.walletId}/auto-topup/retry`);
  await api('POST', `/wallets/${silent.walletId}/auto-topup/resume`, { give_up: true });
  await gateway.operator.confirm(`${silent.walletId}:topup:1`);
  await advanceClock(api, silent.clockId, after(26));

  const late = await filling(stage, {}, 'requires_action');
  await becomes(stage, late, 'needs_action');
  await api('POST', `/wallets/${late.walletId}/terminate`);
  await gateway.operator.confirm(`${late.walletId}:topup:1`);
  await advanceClock(api, late.clockId, after(25));

  const parked = await filling(stage, {}, 'succeeds');
  await becomes(stage, parked, 'cooling');
  await asOwner(stage, 'alter table auto_topup_attempt add constraint none_now check (false) not valid');
  try {
    await api('POST', `/wallets/${parked.walletId}/debit`, debitOf('60'));
    await advanceClock(api, parked.clockId, after(2));
  } finally {
    await asOwner(stage, 'alter table auto_topup_attempt drop constraint none_now');
  }
  await temporal.workflow.getHandle(autoTopUpWorkflowId(parked.walletId)).executeUpdate(retry);
  await advanceClock(api, parked.clockId, after(4));
}

/** A wallet on a clock of its own whose balance of 10 is below its threshold from the first debit on. */
async function filling(stage: Stage, terms: Record<string, unknown>, card?: SandboxBehaviour): Promise<Filling> {
  const { api } = stage.platform;
  const { id: clockId } = await api('POST', '/test-clocks', { frozen_time: start });
  const customer = { externalId: newExternalId(), clockId, ...(card ? { card: sandboxCardNumber(card) } : {}) };
  const customerId = await makeCustomer(api, customer);
  const auto_topup = { enabled: true, threshold: 20, amount: 50, invoicing: true, ...terms };
  const wallet = { customer_id: customerId, currency: 'usd', initial_credits_to_load: '100', auto_topup };
  const { id: walletId } = await api('POST', '/wallets', wallet);
  await api('POST', `/wallets/${walletId}/debit`, debitOf('90'));
  return { customerId, walletId, clockId };
}

function debitOf(credits: string) {
  return { credits, transaction_reason: 'MANUAL_BALANCE_DEBIT', idempotency_key: newExternalId() };
}

async function becomes({ platform: { api } }: Stage, { walletId }: Filling, state: string): Promise<void> {
  await until(async () => {
    const wallet = await api<{ auto_topup_standing: { state: string } }>('GET', `/wallets/${walletId}`);
    return wallet.auto_topup_standing.state === state || undefined;
  });
}
