import type { TouchedParts } from '../../billing/subscription/planned-change.ts';
import type { KeptChange, LineItemChange } from '../../billing/subscription/subscription-change.ts';
import type { Transaction } from '../../db/transaction.ts';
import type { AttendedSubscription } from '../../services/charging/subscription-snapshot.ts';
import { changeAddon } from '../../services/subscription/addon/subscription-addon-change.ts';
import { changeGrouping, changeInheritance } from '../../services/subscription/family/subscription-hierarchy-modify.ts';
import { addLineItem } from '../../services/subscription/item/line-item-add.ts';
import { endLineItem, updateLineItem } from '../../services/subscription/item/line-item-change.ts';
import { changeQuantities } from '../../services/subscription/item/quantity-change.ts';
import { changePlan } from '../../services/subscription/plan-change/plan-change.ts';
import type { ChangeOrder } from '../../services/subscription/plan-change/subscription-change.ts';
import {
  changeCoupon,
  changeTax,
  changeTrialEnd,
} from '../../services/subscription/plan-change/subscription-modify.ts';
import { replaceSubscription } from '../../services/subscription/plan-change/subscription-replace.ts';
import type { UsageReader } from '../../services/usage-reader.ts';
import type { Caller, CommandDefinition, KeptCommand } from '../../workflows/lifecycle.messages.ts';
import type { SubscriptionChanged, SubscriptionSnapshot } from '../../workflows/subscription/subscription.messages.ts';
import * as messages from '../../workflows/subscription/subscription-change.messages.ts';
import { contentOf } from '../command-content.ts';
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

/** Changes of a subscription by people: one transaction each, harmless to do twice by the id of the change. spec: §1.7–§1.9 */
export function createSubscriptionChanges({ inRecordScope, readUsage, snapshot }: ChangeDependencies) {
  const act = superseding(snapshot);
  const changing =
    <Input extends object>(
      update: CommandDefinition<SubscriptionChanged, KeptChange<Input>>,
      work: (tx: Transaction, order: ChangeOrder, input: Input) => Promise<AttendedSubscription>,
      touchedBy: (input: Input) => TouchedParts = () => 'nothing',
    ) =>
    ({ command, ...self }: Change): Promise<SubscriptionSnapshot> => {
      const { caller, at, commandId } = command;
      return inRecordScope(
        self,
        async (tx) => {
          const { input, previewDigest } = await contentOf(tx, update, command);
          const order = { previewDigest, at, changeId: commandId, subscriptionId: self.subscriptionId };
          return act(tx, { ...order, touched: touchedBy(input) }, () => work(tx, order, input));
        },
        caller,
      );
    };

  return {
    addLineItem: changing(messages.addLineItem, (tx, order, input) => addLineItem(tx, order, input, readUsage)),
    updateLineItem: changing(messages.updateLineItem, updateLineItem, touchedByItemChange),
    endLineItem: changing(messages.endLineItem, endLineItem, ({ lineItemId }) => ({ lineItemIds: [lineItemId] })),
    changeQuantities: changing(
      messages.changeQuantities,
      (tx, order, input) => changeQuantities(tx, tx.scope, order, input),
      ({ changes }) => ({ lineItemIds: changes.map(({ lineItemId }) => lineItemId) }),
    ),
    changeTrialEnd: changing(messages.changeTrialEnd, (tx, order, input) =>
      changeTrialEnd(tx, tx.scope, order, input, readUsage),
    ),
    changeCoupon: changing(messages.changeCoupon, (tx, order, input) => changeCoupon(tx, tx.scope, order, input)),
    changeTax: changing(messages.changeTax, changeTax),
    changeAddon: changing(
      messages.changeAddon,
      (tx, order, input) => changeAddon(tx, tx.scope, order, input, readUsage),
      (input) => (input.action === 'add' ? { addonIds: [input.attachment.addonId] } : 'nothing'),
    ),
    changeGrouping: changing(messages.changeGrouping, (tx, order, input) =>
      changeGrouping(tx, tx.scope, order, input, readUsage),
    ),
    changeInheritance: changing(messages.changeInheritance, (tx, order, input) =>
      changeInheritance(tx, tx.scope, order, input, readUsage),
    ),
    changePlan: changing(messages.changePlan, (tx, order, input) => changePlan(tx, tx.scope, order, input), wholly),
    replaceSubscription: changing(
      messages.replaceSubscription,
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
