/*
 * Rules that hold for every answer, so that strict published clients can read it: looked at in every test that calls the API.
 * spec: decision 48
 */

/** Members that are enumerations wherever the published clients know them; texts of the same name are left out. */
const enumerations = new Set(
  `addon_status aggregation_mode aggregation_type alert_state alert_status alert_threshold_type alert_type application_reason
  application_status behaviour billing_cadence billing_cycle billing_model billing_period billing_period_behaviour
  billing_period_unit bucket_size cadence cancellation_type change_action change_type checkout_status collection_method
  commitment_duration commitment_type compression condition credit_note_status credit_note_type data_type destination_type
  direction discount_type dispute_status duration encryption entity_type event_type expiration_duration_unit expiration_type
  failure_point_type feature_type file_type grant_duration_unit grant_measure interval invoice_cadence invoice_status
  invoice_type line_item_grouping measure normalize_fixed_to operator pause_mode pause_status payment_method_type
  payment_provider payment_status payment_terms period price_type price_unit_type proration_behavior reason_code
  reference_type refund_destination refund_reason refund_status reset_usage resume_mode schedule_type scope source_type status
  subscription_status subscription_status_at_application subscription_type task_status task_type tax_behavior
  tax_rate_status tax_rate_type tax_transaction_type tax_treatment tier_mode transaction_reason transaction_status type
  usage_reset_period user_type value_type wallet_status wallet_type window_size`.split(/\s+/),
);
/** Free maps, whose members are the caller's. */
const maps = new Set([
  'metadata',
  'properties',
  'value',
  'payload',
  'config_value',
  'sync_config',
  'detail',
  'derivation',
]);

/** Wordings of the validating library, which a caller never reads. */
const libraryText =
  /Too (?:small|big): |Invalid (?:input|option|string|type|ISO|UUID|URL|email)\b|expected \w+, received|Unrecognized key/;

/** Throws when an answer breaks a rule, naming where. `request` is named in the error. */
export function expectStrictWire(request: string, body: unknown): void {
  if (typeof body !== 'object' || body === null) return;
  const empty = emptyEnumerations(body, '');
  if (empty.length > 0)
    throw new Error(`${request} answers an enumeration that is empty, not null: ${empty.join(', ')}`);
  const { success, details } = body as { success?: unknown; details?: unknown };
  const foreign = success === false && libraryText.exec(JSON.stringify(body));
  if (foreign) throw new Error(`${request} answers the text of a library: ${foreign[0]}`);
  if (success !== false || details === undefined) return;
  const plain = Object.entries(details as object).filter(([, value]) => typeof value !== 'object' || value === null);
  if (plain.length > 0)
    throw new Error(`${request} answers details that are no objects: ${plain.map(([name]) => name).join(', ')}`);
}

function emptyEnumerations(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => emptyEnumerations(each, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    if (member === '' && enumerations.has(name)) return [`${path}.${name}`];
    return maps.has(name) ? [] : emptyEnumerations(member, `${path}.${name}`);
  });
}
