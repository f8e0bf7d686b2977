import type { TouchedParts } from '../../billing/subscription/planned-change.ts';
import type {
  AddonChange,
  CouponChange,
  GroupingChange,
  InheritanceChange,
  LineItemChange,
  LineItemEnding,
  NewLineItem,
  PlanChangeOrder,
  QuantityChanges,
  ReplacementOrder,
  TaxChange,
  TrialEndChange,
} from '../../billing/subscription/subscription-change.ts';
import type { Transaction } from '../../db/transaction.ts';
import { changeAddon } from '../../services/subscription/addon/subscription-addon-change.ts';
import { changeGrouping, changeInheritance } from '../../services/subscription/family/subscription-hierarchy-modify.ts';
import { addLineItem } from '../../services/subscription/item/line-item-add.ts';
import { endLineItem, updateLineItem } from '../../services/subscription/item/line-item-change.ts';
import { changeQuantities } from '../../services/subscription/item/quantity-change.ts';
import type { AttendedSubscription } from '../../services/subscription/period/subscription-snapshot.ts';
import { changePlan } from '../../services/subscription/plan-change/plan-change.ts';
import type { ChangeContent, ChangeOrder } from '../../services/subscription/plan-change/subscription-change.ts';
import {
  changeCoupon,
  changeTax,
  changeTrialEnd,
} from '../../services/subscription/plan-change/subscription-modify.ts';
import { replaceSubscription } from '../../services/subscription/plan-change/subscription-replace.ts';
import { readSubscriptionCommand } from '../../services/subscription/status/subscription-command.ts';
import type { UsageReader } from '../../services/usage-reader.ts';
import type { Caller, KeptCommand, SubscriptionSnapshot } from '../../workflows/subscription/subscription.messages.ts';
import { superseding } from './superseding.ts';

interface SubscriptionReference {
  tenantId: string;
  environmentId: string;
  subscriptionId: string;
}

interface ChangeDependencies {
  /** A transaction with the mapper: some changes make prices and links. */
  inRecordScope<T>(owner: SubscriptionReference, work: (tx: Transaction) => Promise<T>, caller: Caller): Promise<T>;
  readUsage: UsageReader;
  snapshot(attended: AttendedSubscription): SubscriptionSnapshot;
}

type Change = SubscriptionReference & { command: KeptCommand };

/** What people change of a subscription: one transaction each, harmless to do twice by the id of the change. spec: §1.7–§1.9 */
export function createSubscriptionChanges({ inRecordScope, readUsage, snapshot }: ChangeDependencies) {
  const act = superseding(snapshot);
  const changing =
    <Input>(
      work: (tx: Transaction, order: ChangeOrder, input: Input) => Promise<AttendedSubscription>,
      touchedBy: (input: Input) => TouchedParts = () => 'nothing',
    ) =>
    ({ command, ...self }: Change): Promise<SubscriptionSnapshot> => {
      const { caller, at, contentId } = command;
      return inRecordScope(
        self,
        async (tx) => {
          const { input, ...binding } = await readSubscriptionCommand<ChangeContent<Input>>(tx, tx.scope, contentId);
          const order = { ...binding, at, changeId: contentId, subscriptionId: self.subscriptionId };
          return act(tx, { ...order, touched: touchedBy(input) }, () => work(tx, order, input));
        },
        caller,
      );
    };

  return {
    addLineItem: changing<NewLineItem>((tx, order, input) => addLineItem(tx, order, input, readUsage)),
    updateLineItem: changing<LineItemChange>(updateLineItem, touchedByItemChange),
    endLineItem: changing<LineItemEnding>(endLineItem, ({ lineItemId }) => ({ lineItemIds: [lineItemId] })),
    changeQuantities: changing<QuantityChanges>(
      (tx, order, input) => changeQuantities(tx, tx.scope, order, input),
      ({ changes }) => ({ lineItemIds: changes.map(({ lineItemId }) => lineItemId) }),
    ),
    changeTrialEnd: changing<TrialEndChange>((tx, order, input) =>
      changeTrialEnd(tx, tx.scope, order, input, readUsage),
    ),
    changeCoupon: changing<CouponChange>((tx, order, input) => changeCoupon(tx, tx.scope, order, input)),
    changeTax: changing<TaxChange>(changeTax),
    changeAddon: changing<AddonChange>(
      (tx, order, input) => changeAddon(tx, tx.scope, order, input, readUsage),
      (input) => (input.action === 'add' ? { addonIds: [input.attachment.addonId] } : 'nothing'),
    ),
    changeGrouping: changing<GroupingChange>((tx, order, input) =>
      changeGrouping(tx, tx.scope, order, input, readUsage),
    ),
    changeInheritance: changing<InheritanceChange>((tx, order, input) =>
      changeInheritance(tx, tx.scope, order, input, readUsage),
    ),
    changePlan: changing<PlanChangeOrder>((tx, order, input) => changePlan(tx, tx.scope, order, input), wholly),
    replaceSubscription: changing<ReplacementOrder>(
      (tx, order, input) => replaceSubscription(tx, tx.scope, order, input, readUsage),
      wholly,
    ),
  };
}

const wholly = (): TouchedParts => 'all';

/** Metadata alone changes nothing that an order is about. */
function touchedByItemChange({ lineItemId, terms, commitment }: LineItemChange): TouchedParts {
  return Object.keys(terms).length > 0 || commitment ? { lineItemIds: [lineItemId] } : 'nothing';
}
