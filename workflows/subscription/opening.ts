import { proxyActivities, proxyLocalActivities, sleep } from '@temporalio/workflow';
import type { OpeningActivities, OpeningAsked, PaidOpening } from '../../activities/subscription/opening-charge.ts';
import type { PaymentOutcome } from '../../billing/payment/payment.ts';
import { databaseStep, externalStep } from '../activity-options.ts';
import type { SubscriptionSnapshot } from './subscription.messages.ts';

interface Owner {
  tenantId: string;
  environmentId: string;
}

type Charge = Owner & { chargeId: string };

const local = proxyLocalActivities<OpeningActivities>(databaseStep);

/** A charge that is being decided is asked about so often before it is given up; the caller waits for the answer. */
const patientQuestions = 4;
const firstPauseMs = 500;
const longestPauseMs = 60_000;

/**
 * Carries out a command that may have to be paid before anything of it is true: what is to be charged is known by carrying it
 * out and taking it back, then the gateway is asked, then it is carried out for good, or refused with nothing left behind.
 * Money that was captured for what could not be made after all goes back. spec: subscriptions-and-invoicing §2.3.4
 */
export async function paidFirst(
  owner: Owner,
  act: (paid: PaidOpening | null) => Promise<SubscriptionSnapshot | OpeningAsked>,
): Promise<SubscriptionSnapshot> {
  const asked = await act(null);
  if (!('openingCharge' in asked)) return asked;
  const charge = { tenantId: owner.tenantId, environmentId: owner.environmentId, chargeId: asked.openingCharge };
  const outcome = await decide(charge);
  if (outcome.status !== 'succeeded') return local.refuseOpening({ ...charge, reason: outcome.reason ?? 'declined' });
  try {
    return (await act({ chargeId: charge.chargeId, outcome })) as SubscriptionSnapshot;
  } catch (error) {
    await giveBack(charge);
    throw error;
  }
}

/**
 * Ends a charge of which nobody knows what it was for, because the run that asked for it was lost: what was captured goes back.
 */
export async function abandonOpening(owner: Owner, chargeId: string): Promise<void> {
  const charge = { tenantId: owner.tenantId, environmentId: owner.environmentId, chargeId };
  const outcome = await settled(charge, await external(charge).cancelOpening(charge));
  if (outcome.status === 'succeeded') await giveBack(charge);
  else await local.closeOpening({ ...charge, status: 'dropped' });
}

function external({ chargeId }: Charge) {
  return proxyActivities<OpeningActivities>({ ...externalStep, summary: `opening charge ${chargeId}` });
}

/** Sends the charge and stays with it until it has succeeded or failed for good. */
async function decide(charge: Charge): Promise<PaymentOutcome> {
  return settled(charge, await external(charge).chargeOpening({ ...charge, again: false }));
}

/**
 * Asks until the gateway has decided. What waits for its payer, or is under way for long, is given up; an answer that never came
 * is never taken for one, because the money may have moved.
 */
async function settled(charge: Charge, first: PaymentOutcome): Promise<PaymentOutcome> {
  let outcome = first;
  let pauseMs = firstPauseMs;
  for (let asked = 1; !isDecided(outcome); asked += 1) {
    const isGivenUp =
      outcome.status === 'requires_action' || (outcome.status === 'processing' && asked > patientQuestions);
    if (isGivenUp) {
      const given = await external(charge).cancelOpening(charge);
      if (isDecided(given)) return given;
    }
    await sleep(pauseMs);
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    outcome = await external(charge).chargeOpening({ ...charge, again: true });
  }
  return outcome;
}

function isDecided({ status }: PaymentOutcome): boolean {
  return status === 'succeeded' || status === 'declined';
}

async function giveBack(charge: Charge): Promise<void> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    const { status } = await external(charge).refundOpening(charge);
    if (status === 'succeeded') return local.closeOpening({ ...charge, status: 'returned' });
    // The card takes no money back: it stays visible as money without a payment.
    if (status === 'failed') return local.closeOpening({ ...charge, status: 'kept' });
    await sleep(pauseMs);
  }
}
