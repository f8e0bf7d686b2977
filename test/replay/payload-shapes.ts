/** Kinds of the values that a history may hold. */
export const kinds = {
  id: /^[\w:-]*$/,
  instant: /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z)?$/,
  /** A status, a kind of step, a code of a gateway. */
  word: /^[A-Za-z][\w ]*$|^$/,
  count: /^\d+$/,
  flag: /^(true|false)$/,
  /** Line for operators, made of words, ids, counts and instants; never an amount or an address. */
  line: /^(?!.*(@|\d\.\d\d?(?!\d)))[\w .·:;,()/-]*$/,
  /** Words of a gateway, the database or a check of the catalogue; no amount, no address. */
  report: /^(?!.*(@|\d\.\d\d?(?!\d)))[^\n]*$/,
} as const;

export type Kind = keyof typeof kinds;
/** Keys of a payload with the kinds of their values. A list is `key[]`, of which no member is a key of its own. */
export type Keys = Record<string, Kind>;

/** Keys of a member, under its name. */
export const under = (prefix: string, keys: Keys): Keys =>
  Object.fromEntries(Object.entries(keys).map(([key, kind]) => [`${prefix}.${key}`, kind]));

export const owner = { tenantId: 'id', environmentId: 'id' } satisfies Keys;
export const caller = { 'caller.actor': 'id', 'caller.requestId': 'id' } satisfies Keys;
export const command = { ...caller, at: 'instant' } satisfies Keys;
export const keptCommand = { ...command, commandId: 'id' } satisfies Keys;

export const snapshot = {
  version: 'count',
  status: 'word',
  'agenda[].at': 'instant',
  'agenda[].kind': 'word',
  'agenda[].ref': 'id',
  ended: 'flag',
  details: 'line',
  spreadMs: 'count',
  blockedOn: 'word',
  blockedReason: 'report',
} satisfies Keys;
export const subscription = { ...snapshot, currentPeriodStart: 'instant', currentPeriodEnd: 'instant' } satisfies Keys;
export const invoice = {
  ...snapshot,
  paymentStatus: 'word',
  subscriptionId: 'id',
  subscriptionWaits: 'flag',
} satisfies Keys;
export const payment = {
  ...snapshot,
  paymentStatus: 'word',
  invoiceId: 'id',
  subscriptionId: 'id',
  needsAction: 'flag',
  awaitsPayer: 'flag',
} satisfies Keys;
export const refund = { ...snapshot, refundStatus: 'word' } satisfies Keys;
export const wallet = { ...snapshot, clockTime: 'instant' } satisfies Keys;
export const standing = { state: 'word', reason: 'line', until: 'instant' } satisfies Keys;
export const topUp = { ...snapshot, ...standing } satisfies Keys;
export const checkout = {
  ...snapshot,
  checkoutStatus: 'word',
  linkState: 'word',
  isLocal: 'flag',
  isAnswered: 'flag',
} satisfies Keys;
export const checkoutStep = { ...checkout, invoiceId: 'id', subscriptionId: 'id', 'refundIds[]': 'id' } satisfies Keys;

export const answered = {
  status: 'word',
  gatewayPaymentId: 'id',
  'gatewayMetadata.sandbox_behaviour': 'word',
  reason: 'report',
  declineCode: 'word',
  declineClass: 'word',
  actionUrl: 'report',
} satisfies Keys;
export const refunded = { status: 'word', gatewayRefundId: 'id', reason: 'report' } satisfies Keys;
export const recorded = {
  paymentId: 'id',
  paymentStatus: 'word',
  invoiceId: 'id',
  subscriptionId: 'id',
  walletId: 'id',
  invoicePaid: 'flag',
  awaitsGateway: 'flag',
  'refundIds[]': 'id',
} satisfies Keys;

export const lifecycle = (carried: Keys): Keys => ({
  ...owner,
  objectId: 'id',
  customerId: 'id',
  testClockId: 'id',
  clockTime: 'instant',
  creating: 'flag',
  ...under('carried.snapshot', carried),
  'carried.announced.status': 'word',
  'carried.announced.next': 'instant',
  'carried.announced.blockedOn': 'word',
  'carried.steps[].at': 'instant',
  'carried.steps[].did': 'line',
  'carried.cancelRequestedAt': 'instant',
});

export const counted = { cloned: 'count', skipped: 'count', failed: 'count' } satisfies Keys;
export const cloned: Keys = {
  ...under('features', counted),
  ...under('plans', counted),
  'errors[].entity_type': 'word',
  'errors[].entity_id': 'id',
  // The catalogue is nobody's, and the result of the workflow tells it. spec: platform §9
  'errors[].message': 'report',
};
export const cloning: Keys = { ...cloned, clone_status: 'word', copying: 'word', behind: 'id' };
export const clone: Keys = { ...owner, ...caller, sourceEnvironmentId: 'id', cloneId: 'id' };
export const syncing: Keys = { ...owner, ...caller, planId: 'id', syncId: 'id' };
export const synced: Keys = {
  sync_status: 'word',
  subscriptions_found: 'count',
  subscriptions_synced: 'count',
  subscriptions_failed: 'count',
  line_items_found_for_creation: 'count',
  line_items_created: 'count',
  line_items_terminated: 'count',
};
export const read: Keys = {
  after: 'id',
  examined: 'count',
  stored: 'count',
  known: 'count',
  unreadable: 'count',
  isDone: 'flag',
};
export const reprocess: Keys = { ...owner, commandId: 'id', ...under('standing', read) };
export const imported: Keys = { processedRecords: 'count', successfulRecords: 'count', failedRecords: 'count' };
export const built: Keys = { position: 'count', boundary: 'count', isDone: 'flag' };
export const dropped: Keys = { partition: 'id', eventCount: 'count', waitsFor: 'line' };
export const watched: Keys = { until: 'instant', closed: 'count', restarted: 'count', told: 'count' };
export const watch: Keys = { 'due[]': 'word', nextAt: 'instant' };
export const passed: Keys = { passedOn: 'count', others: 'count', isMoreDue: 'flag', nextAt: 'instant' };
export const clock: Keys = { frozenTime: 'instant', targetTime: 'instant' };
/** Part of all webhook endpoints, and how long a step serves it. */
export const sharing: Keys = { shard: 'count', shards: 'count', stepMs: 'count' };
