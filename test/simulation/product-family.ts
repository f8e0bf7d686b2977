import { refuse } from '../../billing/refusal.ts';
import { checkParent, followParent, type HierarchyMember, isChild } from '../../billing/subscription/hierarchy.ts';
import type { SubscriptionState } from '../../billing/subscription/subscription.ts';
import type { Usage } from './life.ts';
import type { ProductLife } from './product.ts';

interface Child {
  heir: number;
  state: SubscriptionState;
}

/** Inherited children, as services/subscription/family/subscription-inheritance.ts and subscription-follow.ts keep their rows. */
export class ProductFamily {
  readonly life: ProductLife;
  children: Child[] = [];

  constructor(life: ProductLife) {
    this.life = life;
  }

  begin(): void {
    for (const [index, atOnce] of this.life.life.heirs.entries()) {
      if (atOnce) this.inherit(index + 1, this.life.row.startDate, true);
    }
  }

  present(): Child[] {
    return this.children.filter(({ state }) => state.status !== 'cancelled');
  }

  inherit(heir: number, at: string, creating = false): void {
    const { row } = this.life;
    const subscriptionType = this.present().length > 0 ? ('parent' as const) : ('standalone' as const);
    const parent: HierarchyMember = {
      ...row,
      id: 'parent',
      customerId: '0',
      subscriptionType,
      parentSubscriptionId: null,
    };
    if (isChild(parent)) throw new Error('a parent is no child');
    checkParent(parent, { threshold: null, field: 'id', creating });
    const there = this.present().find((child) => child.heir === heir);
    if (there) there.state = { ...there.state, cancelAt: null, cancelAtPeriodEnd: false };
    else {
      const fresh = { startDate: at, endDate: null, cancelAt: null, cancelledAt: null, cancelAtPeriodEnd: false };
      this.children.push({ heir, state: { ...row, ...fresh } });
    }
  }

  disinherit(heir: number): void {
    const { row } = this.life;
    const there = this.present().find((child) => child.heir === heir);
    if (!there || row.status === 'cancelled') throw refuse('validation_error', 'refused by the store');
    if (there.state.cancelAt === null) {
      there.state = { ...there.state, cancelAt: row.currentPeriodEnd, cancelAtPeriodEnd: true };
    }
  }

  /** After everything that changes the parent. */
  follow(): void {
    for (const child of this.present()) child.state = followParent(child.state, this.life.row);
  }

  /** inheritedUsage of services/charging/subscription-family.ts */
  counts({ by, at }: Usage): boolean {
    if (by === 0) return true;
    return this.children.some(({ heir, state: { startDate, endDate, cancelAt } }) => {
      const ends = [endDate, cancelAt].flatMap((end) => (end === null ? [] : [Date.parse(end)]));
      return heir === by && at >= Date.parse(startDate) && ends.every((end) => at < end);
    });
  }
}
