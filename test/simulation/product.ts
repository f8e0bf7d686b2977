import { computedStatus, computeInvoice } from '../../billing/invoice/invoice.ts';
import {
  type BilledService,
  type ChargeItem,
  type ChargeLine,
  type ChargePeriod,
  type ChargePlanInput,
  planCharges,
  priceCharges,
  usageQuestions,
} from '../../billing/line/charge.ts';
import { type Decimal, decimal } from '../../billing/money/money.ts';
import type { PriceTerms } from '../../billing/price/price-terms.ts';
import type { ProratedChange } from '../../billing/subscription/proration-change.ts';
import {
  type ClosedPeriod,
  closePeriod,
  endTrial,
  openSubscription,
  type Period,
} from '../../billing/subscription/subscription.ts';
import { subscriptionAgenda } from '../../billing/subscription/subscription-agenda.ts';
import { billingAnchor } from '../../billing/time/calendar.ts';
import { openingPeriod, periodOf } from '../../services/charging/subscription-period.ts';
import type { SubscriptionRow } from '../../services/charging/subscription-row.ts';
import type { Billed, Life, Offer } from './life.ts';
import { ProductCarried } from './product-carried.ts';
import { obey } from './product-command.ts';
import { answersOf, commitmentOf, ProductCommitments } from './product-commitment.ts';
import { ProductDiscount } from './product-discount.ts';
import { ProductFamily } from './product-family.ts';
import { minor, shown } from './product-line.ts';
import { crossPhase, firstItems, phasesOf } from './product-phase.ts';

/** What was charged or given back of an item's time, as the rows of invoices and prorations keep it. */
export interface Kept {
  item: string;
  end: string;
  amount: Decimal;
}

export interface Credit extends Kept {
  start: string;
  cause: string;
}

/** A line item, what offers it, and whether a phase brought it. */
export interface HeldItem {
  item: ChargeItem;
  offer: Offer;
  isOfPhase: boolean;
}

const text = (instant: number): string => new Date(instant).toISOString();

/**
 * The same life through the product's own pure functions: agenda, periods, charges, prorations, invoices. Only what the stores
 * do with rows (which lines are billed already, what is left to give back) is kept in memory here.
 */
export function productBilled(life: Life): Billed {
  return new ProductLife(life).billed();
}

export class ProductLife {
  readonly life: Life;
  readonly result: Billed = { invoices: [], returned: [], accepted: [], status: 'active', endedAt: null };
  readonly billedServices: BilledService[] = [];
  readonly paused: Period[] = [];
  /** Net amounts of ADVANCE FIXED lines. */
  readonly charged: Kept[] = [];
  readonly netted: Kept[] = [];
  readonly credited: Credit[] = [];
  readonly returned: Kept[] = [];
  readonly carried = new ProductCarried(this);
  readonly commitments = new ProductCommitments(this);
  readonly family = new ProductFamily(this);
  readonly discount: ProductDiscount;
  row: SubscriptionRow;
  items: HeldItem[];
  pauseStart = '';
  plan = 0;
  made = 0;
  /** The phase that began last; as many as there are when the last has ended. */
  phase = 0;
  /** Of a pending cancellation. */
  before: { cancelAt: string | null; endDate: string | null } | null = null;

  constructor(life: Life) {
    this.life = life;
    const cadence = {
      billingPeriod: life.cadence.unit,
      billingPeriodCount: life.cadence.count,
      billingCycle: life.calendar ? ('calendar' as const) : ('anniversary' as const),
      timezone: life.timezone,
      startDate: text(life.start),
    };
    const requestedAnchor = life.anchor === null ? null : text(life.anchor);
    const state = openSubscription(
      {
        ...cadence,
        billingAnchor: billingAnchor({ ...cadence, requestedAnchor }),
        endDate: life.end === null ? null : text(life.end),
        trialDays: life.trialDays,
      },
      'active',
    );
    const terms = {
      id: 'subscription',
      currency: life.currency,
      prorationBehavior: life.prorate ? 'create_prorations' : 'none',
      lineItemGrouping: life.folded ? 'per_billing_period' : 'per_charge_period',
      commitmentAmount: life.commitment?.amount ?? null,
      overageFactor: life.commitment?.factor ?? '1',
      enableTrueUp: life.commitment?.trueUp ?? false,
      commitmentDuration: life.commitment?.duration ?? null,
    };
    this.row = { ...state, ...terms } as SubscriptionRow;
    this.discount = new ProductDiscount(life, { ...cadence, anchor: state.billingAnchor });
    this.items = firstItems(this);
    this.family.begin();
  }

  committedItem(offer: Offer, startDate: string): HeldItem {
    return { offer, item: { ...this.itemOf(offer, startDate), commitment: commitmentOf(offer) }, isOfPhase: false };
  }

  itemOf(offer: Offer, startDate: string): ChargeItem {
    this.made += 1;
    return {
      id: `${String(this.made).padStart(3, '0')} ${offer.id}`,
      priceId: offer.id,
      priceType: offer.type,
      invoiceCadence: offer.advance ? 'ADVANCE' : 'ARREAR',
      billingPeriod: offer.cadence?.unit ?? 'ONETIME',
      billingPeriodCount: offer.cadence?.count ?? 1,
      displayName: offer.id,
      quantity: offer.type === 'USAGE' ? '0' : offer.quantity,
      startDate,
      endDate: this.life.end === null ? null : text(this.life.end),
      meterId: offer.meter,
      price: offer.price as PriceTerms,
      bucketSize: offer.bucket,
      resetUsage: 'BILLING_PERIOD',
    };
  }

  billed(): Billed {
    const opening = openingPeriod(this.row);
    if (this.row.status === 'trialing') this.invoice('SUBSCRIPTION_TRIAL_START', opening, []);
    else
      this.invoice('SUBSCRIPTION_CREATE', opening, this.linesFor({ reason: 'opening', elapsed: null, next: opening }));
    for (const command of this.life.commands) {
      this.passTo(text(command.at));
      this.result.accepted.push(obey(this, command));
      this.family.follow();
    }
    this.passTo(text(this.life.until));
    return { ...this.result, status: this.row.status };
  }

  /** Performs the agenda in its order, as a workflow does. */
  passTo(instant: string): void {
    for (;;) {
      const agenda = subscriptionAgenda({
        state: this.row,
        invoices: [],
        renewalNoticedFor: this.row.currentPeriodEnd,
        finalizationDelayMs: 0,
        openingPaidAt: null,
        phases: phasesOf(this),
      });
      const [due] = agenda;
      if (!due || due.at > instant) return;
      if (due.kind === 'endTrial') this.cross(endTrial(this.row, 'active'), 'SUBSCRIPTION_TRIAL_END');
      else if (due.kind === 'closePeriod') this.cross(closePeriod(this.row), 'SUBSCRIPTION_CYCLE');
      else if (due.kind === 'startPhase' || due.kind === 'endPhase') crossPhase(this, due.kind, due.ref, due.at);
      else throw new Error(`no life has a ${due.kind}`);
      this.family.follow();
    }
  }

  /** A boundary, as services/subscription/period/subscription-close.ts crosses it. */
  cross(closed: ClosedPeriod, reason: 'SUBSCRIPTION_TRIAL_END' | 'SUBSCRIPTION_CYCLE'): void {
    const before = this.row;
    const opening = reason === 'SUBSCRIPTION_TRIAL_END';
    const crossed = { ...before, ...closed.state };
    const next = closed.next && periodOf(crossed, closed.next.start, closed.next.end);
    const elapsed = opening ? null : periodOf(before, closed.elapsed.start, closed.elapsed.end);
    const lines =
      before.status === 'paused'
        ? []
        : this.linesFor({
            reason: next === null ? 'last' : opening ? 'opening' : 'cycle',
            elapsed,
            next,
            ...(opening ? { subscription: crossed } : {}),
          });
    this.row = crossed;
    if (!opening || closed.next) this.invoice(reason, opening ? closed.next! : closed.elapsed, lines);
    if (closed.next === null) {
      this.endItems(closed.elapsed.end);
      this.carried.release(Date.parse(closed.elapsed.end));
    }
  }

  endItems(at: string): void {
    this.result.endedAt = Date.parse(at);
    for (const { item } of this.items) {
      if (item.endDate === null || item.endDate > at) item.endDate = item.startDate > at ? item.startDate : at;
    }
  }

  linesFor(
    bill: Pick<ChargePlanInput, 'reason' | 'resume'> & {
      elapsed: ChargePeriod | null;
      next: ChargePeriod | null;
      subscription?: SubscriptionRow;
      pauses?: boolean;
    },
  ): ChargeLine[] {
    const { pauses: _, ...input } = bill;
    const planned = planCharges({
      subscription: this.row,
      ...input,
      items: this.items.map(({ item }) => item),
      allowances: {},
      billed: this.billedServices,
      paused: this.paused,
    });
    const answers = answersOf(this, usageQuestions(planned));
    return this.commitments.held(priceCharges(planned, answers, this.commitments.priorOfLines(planned)), bill);
  }

  /** Sums an invoice up and keeps what later ones look at. */
  invoice(reason: string, { start, end }: Period, lines: readonly ChargeLine[], type = 'SUBSCRIPTION'): void {
    const { life } = this;
    const amounts = computeInvoice({
      currency: life.currency,
      lines: [
        ...lines.map((line, index) => ({ id: String(index), amount: line.amount, priceType: line.priceType })),
        ...(lines.length > 0 ? [this.carried.line()] : []),
      ],
      coupons: this.discount.couponsOf(lines, { start, end }, type),
      wallets: [],
      taxes: life.tax ? [taxOf(life.tax)] : [],
      taxExempt: false,
    });
    const lineAmounts = amounts.lines.map(({ amount }) => amount);
    const skipped = computedStatus({ billingReason: reason, subtotal: amounts.subtotal, lineAmounts }) === 'SKIPPED';
    this.result.invoices.push({
      reason,
      start: Date.parse(start),
      end: Date.parse(end),
      skipped,
      lines: [
        ...lines.map((line, index) => shown(line, amounts.lines[index]!.amount)),
        ...this.carried.use(amounts.lines[lines.length], { start, end }),
      ],
      total: minor(amounts.total),
    });
    // An invoice too small for any money has used of a commitment all the same.
    this.commitments.count(lines, start);
    if (skipped) return;
    for (const [index, line] of lines.entries()) {
      const { periodStart, periodEnd } = line;
      const item = line.subscriptionLineItemId;
      if (item === null) continue;
      const net = decimal(line.amount).minus(amounts.lines[index]!.invoiceLevelDiscount);
      if (!decimal(line.amount).isNegative()) {
        this.billedServices.push({ subscriptionLineItemId: item, periodStart, periodEnd });
      }
      if (line.priceType === 'FIXED' && line.invoiceCadence === 'ADVANCE') {
        this.charged.push({ item, end: periodEnd, amount: net });
      }
    }
  }

  /** Credits and charges of a change, as the records of services/subscription/plan-change/proration.ts. */
  record(change: ProratedChange, cause: string): void {
    for (const line of change.lines) {
      const item = line.subscriptionLineItemId as string;
      for (const { start, end, amount } of line.times) {
        const kept = { item, end, amount: decimal(amount) };
        if (line.side === 'credit') this.credited.push({ ...kept, start, cause });
        else if (change.settlement !== 'invoice') this.netted.push(kept);
      }
    }
  }
}

export const percent = (hundredths: bigint): string => decimal(hundredths).dividedBy(100).toFixed();

function taxOf({ percentage, isInclusive }: NonNullable<Life['tax']>) {
  const taxBehavior = isInclusive ? ('inclusive' as const) : ('exclusive' as const);
  return { id: 'tax', percentage: percent(percentage), taxBehavior };
}
