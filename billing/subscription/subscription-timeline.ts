import { compareText } from '../text-order.ts';

/** Something that happened to a subscription or one of its invoices, as the audit has it. */
export interface PastStep {
  at: string;
  objectType: string;
  action: string;
  actor: string;
  detail: Record<string, unknown>;
  /** Number, total and currency of the invoice it was about, where it was about one. */
  invoice: { number: string | null; total: string; currency: string } | null;
}

/** Something that time will bring, as the agenda has it. */
export interface ComingStep {
  at: string;
  kind: string;
  /** Whether the subscription ends there. */
  ends: boolean;
  paused: boolean;
}

/** One entry in two tellings: what a customer would be told, and what an operator wants to know. */
export interface TimelineWords {
  customer: string;
  operator: string;
}

const subscriptionWords: Record<string, string> = {
  created: 'The subscription was set up',
  'draft activated': 'The subscription started',
  activated: 'The first invoice was paid and the subscription became active',
  'trial ended': 'The trial ended and billing began',
  'trial ended, cancelled': 'The subscription ended with its trial',
  'trial end changed': 'The end of the trial was moved',
  'period closed': 'A billing period ended and the next one began',
  'period closed, cancelled': 'The subscription ended with its billing period',
  paused: 'The subscription was paused',
  resumed: 'The subscription was resumed',
  cancelled: 'The subscription was cancelled',
  'cancellation scheduled': 'The subscription was set to end later',
  'schedule taken back': 'A scheduled change was taken back',
  updated: 'The subscription was updated',
  inherited: 'The subscription was inherited',
  'inheritance ends': 'The subscription ends with the period of the one it is inherited from',
  'inheritance kept': 'The subscription is inherited after all',
  'followed its parent': 'The subscription moved on with the one it is inherited from',
  'active with its parent': 'The subscription became active with the one it is inherited from',
  'paused with its parent': 'The subscription was paused with the one it is inherited from',
  'resumed with its parent': 'The subscription was resumed with the one it is inherited from',
  'cancelled with its parent': 'The subscription ended with the one it is inherited from',
  grouped: 'The subscription is invoiced with another one from its next period on',
  ungrouped: 'The subscription is invoiced by itself again',
  'group changed': 'The subscriptions that are invoiced with this one changed',
  'children added': 'Other customers inherit the subscription',
  'children removed': 'Other customers no longer inherit the subscription after its period',
  'renewal noticed': 'The coming renewal was announced',
  'no price in force': 'No price is in force, so nothing is charged for now',
  'quantity changed': 'A quantity was changed',
  'phase started': 'The next phase of the subscription began',
  'phase ended': 'The last phase of the subscription ended; it goes on as its plan has it',
};

const invoiceWords: Record<string, string> = {
  finalized: 'Invoice {} was issued',
  skipped: 'There was nothing to bill',
  voided: 'Invoice {} was voided',
  overdue: 'Invoice {} is overdue',
  'payment received': 'Invoice {} was paid',
};

/** What happened, in words. spec: `GET /subscriptions/{id}/timeline` is ours */
export function wordsOfPast(step: PastStep): TimelineWords {
  const isInvoice = step.objectType === 'invoice';
  const known = (isInvoice ? invoiceWords : subscriptionWords)[step.action];
  const what = known ?? `${isInvoice ? 'Invoice {}' : 'The subscription'}: ${step.action}`;
  const { invoice } = step;
  const named = invoice === null ? '' : (invoice.number ?? 'without a number');
  const amount = invoice === null ? '' : ` over ${invoice.total} ${invoice.currency.toUpperCase()}`;
  const customer = `${what.replace('Invoice {}', `Invoice ${named}${amount}`)}.`;
  const facts = Object.entries(step.detail)
    .filter(([name, value]) => name !== 'document' && value !== null && value !== '')
    .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`);
  return { customer, operator: [`${step.action} by ${step.actor || 'the system'}`, ...facts].join(' · ') };
}

/** What is to come, in words; null for what only the machinery does. */
export function wordsOfComing(step: ComingStep): TimelineWords {
  const operator = `${step.kind} is due`;
  return { customer: `${comingText(step)}.`, operator };
}

function comingText({ kind, ends, paused }: ComingStep): string {
  switch (kind) {
    case 'closePeriod':
      if (ends) return 'The subscription ends and its last invoice is made';
      return paused ? 'The paused period ends; nothing is billed' : 'The billing period ends and is invoiced';
    case 'endTrial':
      return ends ? 'The subscription ends with its trial' : 'The trial ends and billing begins';
    case 'activateSubscription':
      return 'The subscription becomes active';
    case 'noticeRenewal':
      return 'The coming renewal is announced';
    case 'finalizeInvoice':
      return 'An invoice that was drafted is issued';
    case 'chargePayment':
      return 'An invoice is charged';
    case 'attendInvoice':
      return 'An unpaid invoice is followed up';
    case 'enforcePayment':
      return paused
        ? 'Everything is paid and the subscription goes on'
        : 'The subscription is stopped unless its unpaid invoice is paid';
    case 'startPhase':
      return 'The next phase begins';
    case 'endPhase':
      return 'The last phase ends and the subscription goes on as its plan has it';
    default:
      return `${kind} happens`;
  }
}

/** Past and coming entries in one order: by instant, what happened before what is to come, else as given. */
export function inOrder<Entry extends { at: string; is_coming: boolean }>(entries: readonly Entry[]): Entry[] {
  return [...entries].sort((a, b) => Number(a.is_coming) - Number(b.is_coming) || compareText(a.at, b.at));
}
