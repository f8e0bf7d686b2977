interface Row {
  /** Operations the row is for, `portal*` those whose name begins so; left out, wherever the place occurs. */
  operations?: readonly string[];
  /** The place: `line_items[]` are the elements of an array, `prices{}` the values of a map, '' the body or query string. */
  at: string;
  /** Names of the published request that no schema of ours has there: they cannot change the outcome, for the reason of the row. */
  passedOver: readonly string[];
}

/** Members of a stored record that answers show and nobody sets. */
const stamps = ['created_at', 'created_by', 'environment_id', 'status', 'tenant_id', 'updated_at', 'updated_by'];

/*
 * Made once by comparing the request schemas of the specification with ours; test/unit/api/passed-over-members.test.ts compares
 * them again where the specification is at hand, and finds rows for what has been built since. spec: decision 46
 */
export const passedOverRows: readonly Row[] = [
  // The object a request names decides; what repeats it is not read.
  {
    operations: ['portalGetUsageSummary', 'getCustomerUsageSummaryById'],
    at: '',
    passedOver: ['customer_id', 'customer_lookup_key'],
  },
  { at: 'integration_entity_mapping[]', passedOver: ['entity_id', 'entity_type'] },
  { operations: ['createSubscription'], at: 'credit_grants[]', passedOver: ['addon_id', 'plan_id', 'subscription_id'] },
  {
    operations: ['createSubscription'],
    at: 'inheritance.grouped_invoicing_children_to_create[].credit_grants[]',
    passedOver: ['addon_id', 'plan_id', 'subscription_id'],
  },
  // A session is one customer's: its token says whose. spec: platform §11
  {
    operations: ['portal*'],
    at: '',
    passedOver: ['customer_id', 'environment_id', 'external_customer_id', 'tenant_id'],
  },
  // A page sends the customer back as it read it; what is not the customer's to change stays.
  {
    operations: ['portalUpdateCustomer'],
    at: '',
    passedOver: [
      ...['created_at', 'created_by', 'external_id', 'id', 'integration_entity_mapping', 'integrations', 'metadata'],
      ...['parent_customer', 'parent_customer_external_id', 'parent_customer_id', 'skip_onboarding_workflow', 'status'],
      ...[
        'onboarding_workflow_name',
        'tax_rate_overrides',
        'tax_treatment',
        'test_clock_id',
        'updated_at',
        'updated_by',
      ],
    ],
  },
  {
    operations: ['cancelSubscriptionSchedule', 'cancelSubscriptionScheduleV1'],
    at: '',
    passedOver: ['schedule_id', 'schedule_type', 'subscription_id'],
  },
  // The answer always waits for the computation.
  { operations: ['computeInvoice'], at: '', passedOver: ['sync'] },
  // A plan is updated by sending it back as it was answered, with what hangs on it. spec: catalogue-and-metering §3 Update
  { operations: ['updatePlan'], at: '', passedOver: ['id', ...stamps] },
  {
    operations: ['updatePlan'],
    at: 'prices[]',
    passedOver: [
      ...stamps,
      ...[
        'addon',
        'feature',
        'group',
        'meter',
        'plan',
        'pricing_unit',
        'parent_price_id',
        'sequence',
        'conversion_rate',
      ],
      ...['display_amount', 'display_price_unit_amount', 'price_unit', 'price_unit_amount', 'price_unit_id'],
      'price_unit_tiers',
    ],
  },
  {
    operations: ['updatePlan'],
    at: 'entitlements[]',
    passedOver: [...stamps, 'addon', 'display_order', 'feature', 'plan'],
  },
  {
    operations: ['updatePlan'],
    at: 'credit_grants[]',
    passedOver: [...stamps, 'addon_id', 'credit_grant_anchor', 'plan_id', 'subscription_id'],
  },

  // The id of a bucket is made here; what its price shares with the line item comes from there, and labels are not shown.
  { at: 'commitment_time_buckets[]', passedOver: ['id'] },
  {
    at: 'commitment_time_buckets[].price',
    passedOver: [
      ...[
        'billing_period',
        'billing_period_count',
        'currency',
        'entity_id',
        'entity_type',
        'group_id',
        'invoice_cadence',
      ],
      ...['description', 'display_name', 'lookup_key', 'metadata', 'meter_id', 'price_unit_type', 'type'],
    ],
  },
];

/** Names that an operation takes at one place of its request and passes over. */
export function passedOverMembers(operation: string, place: string): readonly string[] {
  return passedOverRows
    .filter(({ operations, at }) =>
      operations
        ? place === at && operations.some((name) => isNamed(name, operation))
        : place === at || place.endsWith(`.${at}`),
    )
    .flatMap(({ passedOver }) => passedOver);
}

function isNamed(name: string, operation: string): boolean {
  return name.endsWith('*') ? operation.startsWith(name.slice(0, -1)) : operation === name;
}
