/** A value that a request may leave out or send as null. */
export type Maybe<Value> = Value | null | undefined;

/** The filters a list of invoices has of its own; what is absent restricts nothing. spec: subscriptions-and-invoicing §1.11 */
export interface InvoiceFilters {
  invoiceIds?: Maybe<readonly string[]>;
  /** The invoiced customer. */
  customerId?: Maybe<string>;
  externalCustomerId?: Maybe<string>;
  /** The subscribers, who may be invoiced through somebody else. */
  subscriptionCustomerIds?: Maybe<readonly string[]>;
  subscriptionId?: Maybe<string>;
  invoiceType?: Maybe<string>;
  invoiceStatuses?: Maybe<readonly string[]>;
  paymentStatuses?: Maybe<readonly string[]>;
  billingReason?: Maybe<string>;
  currency?: Maybe<string>;
  amountDueAbove?: Maybe<string>;
  amountRemainingAbove?: Maybe<string>;
  periodStartFrom?: Maybe<string>;
  periodStartUntil?: Maybe<string>;
  periodEndFrom?: Maybe<string>;
  periodEndUntil?: Maybe<string>;
}
