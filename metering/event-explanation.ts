import type { MeasuredGrant } from '../billing/allowance/grant-usage.ts';
import type { EventWithCopies } from './usage-store.ts';

/** What is stored about the way of one event to an invoice. Instants are UTC texts. */
export interface EventEvidence {
  readonly found: EventWithCopies;
  /** Meters of the event's name, at most 50. */
  readonly meters: readonly MeterEvidence[];
  /** Invoice lines of the customer's lines whose measured time holds the event, newest invoice first, at most 20. */
  readonly billed: readonly BilledEvidence[];
}

export interface MeterEvidence {
  readonly meterId: string;
  readonly name: string;
  readonly archived: boolean;
  readonly filters: readonly {
    readonly key: string;
    readonly values: readonly string[];
    /** The text form of the event's property; null where it has none. */
    readonly found: string | null;
    readonly passed: boolean;
  }[];
  /** The roll-up that holds the event's time; null where the event is in none. */
  readonly bucket: { readonly start: string; readonly eventCount: number } | null;
  /** Lines of the customer that charge by the meter, whose price has conditions that leave the event out. */
  readonly excludedLines: readonly string[];
}

export interface BilledEvidence {
  readonly lineItemId: string;
  readonly invoiceLineItemId: string;
  readonly invoiceId: string;
  readonly invoiceNumber: string | null;
  readonly invoiceStatus: string;
  readonly isFinal: boolean;
  readonly from: string;
  readonly to: string;
  /** The budgets of an entitlement that hold the event's time, as the line was computed. */
  readonly budgets: readonly MeasuredGrant[];
  /** The line was measured when the event was already known. */
  readonly knew: boolean;
}

export const explanationSteps = [
  'void',
  'customer_lookup',
  'meter_matching',
  'line_lookup',
  'line_period',
  'price_conditions',
  'invoice',
] as const;

/** How a step ended: `passed`, the first `failed`, and what comes after it is `not_reached`. */
export interface ExplanationStep {
  readonly step: (typeof explanationSteps)[number];
  readonly status: 'passed' | 'failed' | 'not_reached';
  readonly code: string;
  readonly sentence: string;
}

/** `voided` by somebody, `billed` on a final invoice, `on_draft`, `open` until its period is invoiced, `late` for it, else `not_billed`. */
export type ExplanationOutcome = 'voided' | 'billed' | 'on_draft' | 'open' | 'late' | 'not_billed';

export interface EventExplanation {
  readonly outcome: ExplanationOutcome;
  /** The code of the step that decided. */
  readonly reason: string;
  readonly sentence: string;
  readonly steps: readonly ExplanationStep[];
}

interface Verdict {
  readonly code: string;
  readonly sentence: string;
  /** Absent where the step lets the event pass. */
  readonly outcome?: ExplanationOutcome;
}

/**
 * Why an event is billed, or the first rule that turned it away, in words and codes. The steps are those of the tracker of
 * `GET /events/{id}`, and each is decided by what is stored. Own operation; spec: catalogue-and-metering §6.5, §6.6, §14
 */
export function explainEvent(evidence: EventEvidence): EventExplanation {
  const rules = [voidRule, customerRule, meterRule, lineRule, periodRule, conditionRule, invoiceRule];
  const steps: ExplanationStep[] = [];
  let decided: Verdict | null = null;
  for (const [index, rule] of rules.entries()) {
    const step = explanationSteps[index] ?? 'invoice';
    if (decided) {
      steps.push({ step, status: 'not_reached', code: 'not_reached', sentence: 'An earlier step decided.' });
      continue;
    }
    const verdict = rule(evidence);
    const turnedAway = ['voided', 'not_billed', 'late'].includes(verdict.outcome ?? '');
    steps.push({ step, status: turnedAway ? 'failed' : 'passed', code: verdict.code, sentence: verdict.sentence });
    if (verdict.outcome) decided = verdict;
  }
  const { outcome = 'open', code, sentence } = decided ?? { code: 'open', sentence: '' };
  return { outcome, reason: code, sentence, steps };
}

function voidRule({ found: { voided }, billed }: EventEvidence): Verdict {
  if (voided === null) return { code: 'not_voided', sentence: 'Nobody voided it.' };
  const final = billed.find((line) => line.isFinal && line.knew && line.invoiceStatus !== 'VOIDED');
  const after = final
    ? ` It had been billed on invoice ${final.invoiceNumber ?? final.invoiceId}, which shows it as a correction and stays as it is.`
    : '';
  const sentence = `Voided at ${voided.voidedAt} by ${voided.actor}: ${quoted(voided.reason)}.${after}`;
  return { outcome: 'voided', code: final ? 'voided_after_billing' : 'voided', sentence };
}

function customerRule({ found: { event } }: EventEvidence): Verdict {
  const { customerId, externalCustomerId } = event;
  if (customerId !== null)
    return { code: 'customer_found', sentence: `${externalCustomerId} is customer ${customerId}.` };
  return {
    outcome: 'not_billed',
    code: 'customer_unknown',
    sentence: `No customer has the external id ${externalCustomerId}. Create one with it: the event then counts from the customer's subscription start on.`,
  };
}

function meterRule({ found: { event, attributions }, meters }: EventEvidence): Verdict {
  if (attributions.length > 0) {
    const names = attributions.map(({ meterId }) => meters.find((meter) => meter.meterId === meterId)?.name ?? meterId);
    return { code: 'meter_matched', sentence: `Counted by ${names.map(quoted).join(', ')}.` };
  }
  if (meters.length === 0) {
    const sentence = `No meter counts events named ${quoted(event.eventName)}; names are compared exactly, with case.`;
    return { outcome: 'not_billed', code: 'no_meter_for_event_name', sentence };
  }
  if (meters.some((meter) => meter.filters.every((filter) => filter.passed))) {
    const sentence =
      'The expression of the meter cannot be computed from the properties of the event, so it skips the event.';
    return { outcome: 'not_billed', code: 'evaluation_failed', sentence };
  }
  return { outcome: 'not_billed', code: 'no_matching_meter', sentence: meters.map(filterSentence).join(' ') };
}

function filterSentence({ name, filters }: MeterEvidence): string {
  const failed = filters.find((filter) => !filter.passed);
  if (!failed) return '';
  const found = failed.found === null ? 'the event has none' : `the event has ${quoted(failed.found)}`;
  return `${quoted(name)} wants ${failed.key} to be ${failed.values.slice(0, 10).map(quoted).join(' or ')}; ${found}.`;
}

function lineRule({ found }: EventEvidence): Verdict {
  const lines = linesOf(found);
  if (lines.length > 0)
    return { code: 'line_found', sentence: `${lines.length} subscription line(s) charge by the meters.` };
  return {
    outcome: 'not_billed',
    code: 'no_line_for_meter',
    sentence: 'No subscription of the customer has a line with a price on these meters.',
  };
}

function periodRule({ found }: EventEvidence): Verdict {
  const lines = linesOf(found);
  if (lines.some((line) => line.coversEvent))
    return { code: 'within_line', sentence: 'The time of the event lies within a line.' };
  const { timestamp } = found.event;
  const before = lines.every((line) => timestamp < line.startDate);
  const sentence = before
    ? `The event is of ${timestamp}, before the first of these lines starts at ${earliest(lines)}.`
    : `The event is of ${timestamp}, when none of these lines was in force.`;
  return { outcome: 'not_billed', code: before ? 'before_line_start' : 'outside_line', sentence };
}

function conditionRule({ found, meters }: EventEvidence): Verdict {
  const excluded = new Set(meters.flatMap((meter) => meter.excludedLines));
  if (linesOf(found).some((line) => line.coversEvent && !excluded.has(line.id)))
    return { code: 'price_applies', sentence: 'A price of these lines takes the event.' };
  const sentence = 'The prices of these lines have conditions on properties that the event does not meet.';
  return { outcome: 'not_billed', code: 'price_conditions_exclude', sentence };
}

function invoiceRule({ billed }: EventEvidence): Verdict {
  const live = billed.filter((line) => line.invoiceStatus !== 'VOIDED');
  const on = (line: BilledEvidence) => `invoice ${line.invoiceNumber ?? line.invoiceId}`;
  const counted = live.find((line) => line.isFinal && line.knew);
  if (counted)
    return { outcome: 'billed', code: 'billed', sentence: `Billed on ${on(counted)}.${budgetSentences(counted)}` };
  const draft = live.find((line) => !line.isFinal);
  if (draft) {
    const sentence = `On the draft ${on(draft)}, which measures once more when it is finalized.`;
    return { outcome: 'on_draft', code: 'on_draft', sentence };
  }
  const late = live[0];
  if (late) {
    const sentence = `It arrived after ${on(late)} was final: shown there as late usage and part of every usage answer, but not billed.`;
    return { outcome: 'late', code: 'late', sentence };
  }
  return { outcome: 'open', code: 'open', sentence: 'Counted in usage; no invoice covers its time yet.' };
}

/** What lies within a budget is on the line, and costs nothing. */
function budgetSentences({ budgets }: BilledEvidence): string {
  return budgets
    .map(
      ({ entitlementId, start, end, quota, usage, overage }) =>
        ` It counts in the budget of ${entitlementId} from ${start} until ${end}, which holds ${quota}: ${usage} was used of it, and ${overage} is over it.`,
    )
    .join('');
}

function linesOf(found: EventWithCopies) {
  return found.attributions.flatMap((attribution) => attribution.lineItems);
}

function earliest(lines: readonly { readonly startDate: string }[]): string {
  return lines.map((line) => line.startDate).sort()[0] ?? '';
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
}
