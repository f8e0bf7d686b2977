import { Migration } from '@mikro-orm/migrations';

/** The first schema: generated from db/entities, read, and kept as it was. */
export class Migration20261121_01_initial extends Migration {
  override up(): void {
    this.addSql(
      `create table "agenda_entry" ("environment_id" text not null, "object_type" text not null, "object_id" text not null, "kind" text not null, "ref" text not null default '', "tenant_id" text not null, "due_at" timestamptz not null, "customer_id" text not null, "test_clock_id" text null, primary key ("environment_id", "object_type", "object_id", "kind", "ref"));`,
    );
    this.addSql(
      `create index "agenda_entry_test_clock_id_due_at_index" on "agenda_entry" ("test_clock_id", "due_at");`,
    );
    this.addSql(
      `create index "agenda_entry_environment_id_due_at_index" on "agenda_entry" ("environment_id", "due_at");`,
    );
    this.addSql(
      `create table "api_key" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default '', "user_id" text not null, "name" text not null, "type" text not null, "key_hash" text not null, "display_id" text not null, "roles" text[] not null, "user_type" text not null, "expires_at" timestamptz null, "last_used_at" timestamptz null, primary key ("id"));`,
    );
    this.addSql(`alter table "api_key" add constraint "api_key_key_hash_unique" unique ("key_hash");`);
    this.addSql(
      `create index "api_key_environment_id_created_at_index" on "api_key" ("environment_id", "created_at");`,
    );
    this.addSql(
      `create table "audit_entry" ("id" bigserial primary key, "tenant_id" text not null, "environment_id" text not null, "object_type" text not null, "object_id" text not null, "version" int null, "action" text not null, "actor" text not null, "request_id" text not null default '', "occurred_at" timestamptz not null, "recorded_at" timestamptz not null, "detail" jsonb not null default '{}');`,
    );
    this.addSql(
      `create index "audit_entry_environment_id_object_id_id_index" on "audit_entry" ("environment_id", "object_id", "id");`,
    );
    this.addSql(
      `create table "customer" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default '', "number" bigserial, "external_id" text not null, "name" text not null, "email" text null, "contact" text null, "timezone" text not null default 'UTC', "address_line1" text null, "address_line2" text null, "address_city" text null, "address_state" text null, "address_postal_code" text null, "address_country" text null, "metadata" jsonb not null default '{}', "tax_treatment" text not null default 'taxable', "parent_customer_id" text null, "test_clock_id" text null, primary key ("id"));`,
    );
    this.addSql(`alter table "customer" add constraint "customer_number_unique" unique ("number");`);
    this.addSql(
      `create index "customer_environment_id_created_at_id_index" on "customer" ("environment_id", "created_at", "id");`,
    );
    this.addSql(`create index "customer_test_clock_id_index" on "customer" ("test_clock_id");`);
    this.addSql(
      `create index "customer_environment_id_external_id_index" on "customer" ("environment_id", "external_id");`,
    );
    this.addSql(
      `create unique index "customer_external_id_unique" on "customer" (environment_id, external_id) where status = 'published';`,
    );
    this.addSql(
      `create table "entitlement" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default '', "entity_type" text not null, "entity_id" text not null, "feature_id" text not null, "feature_type" text not null, "is_enabled" boolean not null default false, "is_soft_limit" boolean not null default false, "static_value" text null, "config_value" jsonb null, "usage_limit" numeric null, "usage_reset_period" text null, "aggregation_mode" text not null default 'additive', "parent_entitlement_id" text null, "display_order" int null, "start_date" timestamptz null, "end_date" timestamptz null, primary key ("id"));`,
    );
    this.addSql(
      `create index "entitlement_environment_id_created_at_id_index" on "entitlement" ("environment_id", "created_at", "id");`,
    );
    this.addSql(
      `create index "entitlement_environment_id_feature_id_index" on "entitlement" ("environment_id", "feature_id");`,
    );
    this.addSql(
      `create unique index "entitlement_feature_unique" on "entitlement" (environment_id, entity_type, entity_id, feature_id) where status = 'published' and aggregation_mode <> 'parallel';`,
    );
    this.addSql(
      `create table "environment" ("id" text not null, "tenant_id" text not null, "number" serial, "name" text not null, "type" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default '', primary key ("id"));`,
    );
    this.addSql(`alter table "environment" add constraint "environment_number_unique" unique ("number");`);
    this.addSql(`create index "environment_tenant_id_created_at_index" on "environment" ("tenant_id", "created_at");`);
    this.addSql(
      `create table "feature" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default '', "name" text not null, "description" text not null default '', "lookup_key" text not null, "type" text not null, "meter_id" text null, "group_id" text null, "unit_singular" text not null default '', "unit_plural" text not null default '', "reporting_unit" jsonb null, "alert_settings" jsonb null, "metadata" jsonb not null default '{}', primary key ("id"));`,
    );
    this.addSql(
      `create index "feature_environment_id_created_at_id_index" on "feature" ("environment_id", "created_at", "id");`,
    );
    this.addSql(`create index "feature_environment_id_meter_id_index" on "feature" ("environment_id", "meter_id");`);
    this.addSql(
      `create unique index "feature_lookup_key_unique" on "feature" (environment_id, lookup_key) where status = 'published' and lookup_key <> '';`,
    );
    this.addSql(
      `create table "idempotent_request" ("environment_id" text not null, "key" text not null, "request_hash" text not null, "status_code" int not null, "body" text not null, "created_at" timestamptz not null, primary key ("environment_id", "key"));`,
    );
    this.addSql(
      `create table "invoice" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default '', "customer_id" text not null, "subscription_id" text null, "subscription_customer_id" text null, "invoice_number" text null, "idempotency_key" text not null, "invoice_type" text not null, "invoice_status" text not null, "payment_status" text not null, "billing_reason" text not null, "billing_period" text null, "billing_sequence" int null, "collection_method" text not null, "currency" text not null, "subtotal" numeric not null, "total_discount" numeric not null default '0', "total_tax" numeric not null default '0', "total_prepaid_credits_applied" numeric not null default '0', "total" numeric not null, "adjustment_amount" numeric not null default '0', "amount_due" numeric not null, "amount_paid" numeric not null default '0', "amount_remaining" numeric not null, "overpaid_amount" numeric not null default '0', "refunded_amount" numeric not null default '0', "description" text not null default '', "period_start" timestamptz null, "period_end" timestamptz null, "issue_date" timestamptz null, "due_date" timestamptz null, "paid_at" timestamptz null, "finalized_at" timestamptz null, "voided_at" timestamptz null, "last_computed_at" timestamptz null, "overdue_noted_at" timestamptz null, "collection_attempts" int not null default 0, "attended" boolean not null default false, "is_manually_edited" boolean not null default false, "recalculated_invoice_id" text null, "source_type" text not null default '', "invoice_pdf_url" text null, "metadata" jsonb not null default '{}', "test_clock_id" text null, "version" int not null default 1, primary key ("id"));`,
    );
    this.addSql(
      `create index "invoice_environment_id_created_at_id_index" on "invoice" ("environment_id", "created_at", "id");`,
    );
    this.addSql(
      `create index "invoice_environment_id_customer_id_index" on "invoice" ("environment_id", "customer_id");`,
    );
    this.addSql(
      `create index "invoice_environment_id_subscription_id_billing_sequence_index" on "invoice" ("environment_id", "subscription_id", "billing_sequence");`,
    );
    this.addSql(`create unique index "invoice_number_unique" on "invoice" (environment_id, invoice_number);`);
    this.addSql(
      `create unique index "invoice_idempotency_key_unique" on "invoice" (environment_id, idempotency_key) where invoice_status <> 'VOIDED';`,
    );
    this.addSql(
      `create unique index "invoice_period_unique" on "invoice" (environment_id, subscription_id, period_start, period_end, billing_reason) where invoice_status <> 'VOIDED' and subscription_id is not null;`,
    );
    this.addSql(
      `create table "invoice_line_item" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default '', "invoice_id" text not null, "customer_id" text not null, "subscription_id" text null, "subscription_line_item_id" text null, "position" int not null, "entity_type" text null, "entity_id" text null, "plan_id" text null, "plan_display_name" text null, "display_name" text not null default '', "price_id" text null, "price_type" text null, "invoice_cadence" text null, "meter_id" text null, "meter_display_name" text null, "currency" text not null, "quantity" numeric not null, "amount" numeric not null, "adjusted_entitlement_quantity" numeric null, "line_item_discount" numeric not null default '0', "invoice_level_discount" numeric not null default '0', "prepaid_credits_applied" numeric not null default '0', "period_start" timestamptz null, "period_end" timestamptz null, "derivation" jsonb null, "metadata" jsonb not null default '{}', primary key ("id"));`,
    );
    this.addSql(
      `create index "invoice_line_item_environment_id_invoice_id_position_index" on "invoice_line_item" ("environment_id", "invoice_id", "position");`,
    );
    this.addSql(
      `create index "invoice_line_item_environment_id_subscription_line_1185d_index" on "invoice_line_item" ("environment_id", "subscription_line_item_id");`,
    );
    this.addSql(
      `create table "invoice_number_sequence" ("environment_id" text not null, "date_key" text not null, "last" bigint not null, primary key ("environment_id", "date_key"));`,
    );
    this.addSql(
      `create table "meter" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default '', "number" serial, "version" int not null default 1, "name" text not null, "event_name" text not null, "aggregation" jsonb not null, "filters" jsonb not null default '[]', "reset_usage" text not null, primary key ("id"));`,
    );
    this.addSql(`alter table "meter" add constraint "meter_number_unique" unique ("number");`);
    this.addSql(`create index "meter_environment_id_event_name_index" on "meter" ("environment_id", "event_name");`);
    this.addSql(
      `create index "meter_environment_id_created_at_id_index" on "meter" ("environment_id", "created_at", "id");`,
    );
    this.addSql(
      `create table "outbox_event" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "position" bigserial, "transaction_id" xid8 not null default pg_current_xact_id(), "sequence" int not null, "event_name" text not null, "entity_type" text not null, "entity_id" text not null, "payload" jsonb not null, "occurred_at" timestamptz not null, "created_at" timestamptz not null, primary key ("id"));`,
    );
    this.addSql(`alter table "outbox_event" add constraint "outbox_event_position_unique" unique ("position");`);
    this.addSql(
      `create index "outbox_event_environment_id_transaction_id_position_index" on "outbox_event" ("environment_id", "transaction_id", "position");`,
    );
    this.addSql(
      `alter table "outbox_event" add constraint "outbox_event_environment_id_entity_id_sequence_unique" unique ("environment_id", "entity_id", "sequence");`,
    );
    this.addSql(
      `create table "outbox_sequence" ("environment_id" text not null, "entity_id" text not null, "last" int not null, primary key ("environment_id", "entity_id"));`,
    );
    this.addSql(
      `create table "parked_object" ("environment_id" text not null, "object_type" text not null, "object_id" text not null, "tenant_id" text not null, "step" text not null, "reason" text not null, "parked_at" timestamptz not null, primary key ("environment_id", "object_type", "object_id"));`,
    );
    this.addSql(
      `create table "payment" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default '', "idempotency_key" text not null, "destination_type" text not null, "destination_id" text not null, "customer_id" text not null, "payment_method_type" text not null, "payment_method_id" text null, "payment_gateway" text null, "gateway_payment_id" text null, "gateway_tracking_id" text null, "gateway_metadata" jsonb not null default '{}', "intent_token" text not null, "amount" numeric not null, "currency" text not null, "payment_status" text not null, "track_attempts" boolean not null default true, "attended" boolean not null default false, "payment_url" text null, "error_message" text null, "succeeded_at" timestamptz null, "failed_at" timestamptz null, "refunded_at" timestamptz null, "voided_at" timestamptz null, "metadata" jsonb not null default '{}', "test_clock_id" text null, "version" int not null default 1, primary key ("id"));`,
    );
    this.addSql(
      `create index "payment_environment_id_created_at_id_index" on "payment" ("environment_id", "created_at", "id");`,
    );
    this.addSql(
      `create index "payment_environment_id_destination_id_index" on "payment" ("environment_id", "destination_id");`,
    );
    this.addSql(
      `alter table "payment" add constraint "payment_environment_id_intent_token_unique" unique ("environment_id", "intent_token");`,
    );
    this.addSql(
      `create unique index "payment_idempotency_key_unique" on "payment" (environment_id, idempotency_key) where payment_status <> 'FAILED' and status = 'published';`,
    );
    this.addSql(
      `create table "payment_attempt" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default '', "payment_id" text not null, "attempt_number" int not null, "payment_status" text not null, "gateway_attempt_id" text null, "error_message" text null, "metadata" jsonb not null default '{}', primary key ("id"));`,
    );
    this.addSql(
      `alter table "payment_attempt" add constraint "payment_attempt_environment_id_payment_id_attempt_number_unique" unique ("environment_id", "payment_id", "attempt_number");`,
    );
    this.addSql(
      `create table "payment_method" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default '', "customer_id" text not null, "gateway" text not null, "gateway_token" text not null, "type" text not null default 'CARD', "brand" text not null default '', "last_four" text not null default '', "is_default" boolean not null default false, "metadata" jsonb not null default '{}', primary key ("id"));`,
    );
    this.addSql(
      `create index "payment_method_environment_id_customer_id_index" on "payment_method" ("environment_id", "customer_id");`,
    );
    this.addSql(
      `create table "plan" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default '', "name" text not null, "description" text not null default '', "lookup_key" text not null default '', "display_order" int null, "metadata" jsonb not null default '{}', primary key ("id"));`,
    );
    this.addSql(
      `create index "plan_environment_id_created_at_id_index" on "plan" ("environment_id", "created_at", "id");`,
    );
    this.addSql(
      `create unique index "plan_lookup_key_unique" on "plan" (environment_id, lookup_key) where status = 'published' and lookup_key <> '';`,
    );
    this.addSql(
      `create table "price" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default '', "entity_type" text not null, "entity_id" text not null, "parent_price_id" text null, "type" text not null, "billing_model" text not null, "billing_cadence" text not null default 'RECURRING', "billing_period" text not null, "billing_period_count" int not null default 1, "invoice_cadence" text not null, "currency" text not null, "amount" numeric null, "tier_mode" text null, "tiers" jsonb null, "transform_quantity" jsonb null, "percentage_rate" numeric null, "price_unit_type" text not null default 'FIAT', "meter_id" text null, "filter_values" jsonb null, "bucket_size" text null, "min_quantity" numeric null, "trial_period_days" int not null default 0, "group_id" text null, "start_date" timestamptz not null, "end_date" timestamptz null, "display_name" text not null default '', "description" text not null default '', "lookup_key" text not null default '', "sequence" bigint not null, "metadata" jsonb not null default '{}', primary key ("id"));`,
    );
    this.addSql(
      `create index "price_environment_id_entity_type_entity_id_index" on "price" ("environment_id", "entity_type", "entity_id");`,
    );
    this.addSql(`create index "price_environment_id_meter_id_index" on "price" ("environment_id", "meter_id");`);
    this.addSql(
      `create index "price_environment_id_created_at_id_index" on "price" ("environment_id", "created_at", "id");`,
    );
    this.addSql(
      `create unique index "price_lookup_key_unique" on "price" (environment_id, lookup_key) where status = 'published' and end_date is null and lookup_key <> '';`,
    );
    this.addSql(
      `create table "setting" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default '', "key" text not null, "value" jsonb not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "setting" add constraint "setting_environment_id_key_unique" unique ("environment_id", "key");`,
    );
    this.addSql(
      `create table "subscription" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default '', "customer_id" text not null, "invoicing_customer_id" text not null, "parent_subscription_id" text null, "plan_id" text not null, "lookup_key" text not null default '', "subscription_status" text not null, "subscription_type" text not null default 'standalone', "pause_status" text not null default 'none', "active_pause_id" text not null default '', "currency" text not null, "billing_cadence" text not null default 'RECURRING', "billing_period" text not null, "billing_period_count" int not null default 1, "billing_cycle" text not null, "billing_anchor" timestamptz not null, "timezone" text not null, "start_date" timestamptz not null, "end_date" timestamptz null, "current_period_start" timestamptz not null, "current_period_end" timestamptz not null, "trial_start" timestamptz null, "trial_end" timestamptz null, "cancel_at" timestamptz null, "cancelled_at" timestamptz null, "cancel_at_period_end" boolean not null default false, "collection_method" text not null, "payment_behavior" text not null, "payment_terms" text null, "proration_behavior" text not null, "line_item_grouping" text not null default 'per_charge_period', "gateway_payment_method_id" text null, "auto_invoice_threshold" numeric null, "metadata" jsonb not null default '{}', "synced_price_sequence" bigint not null default '0', "billing_sequence" int not null default 0, "renewal_noticed_for" timestamptz null, "test_clock_id" text null, "version" int not null default 1, primary key ("id"));`,
    );
    this.addSql(
      `create index "subscription_environment_id_created_at_id_index" on "subscription" ("environment_id", "created_at", "id");`,
    );
    this.addSql(
      `create index "subscription_environment_id_customer_id_index" on "subscription" ("environment_id", "customer_id");`,
    );
    this.addSql(
      `create index "subscription_environment_id_plan_id_index" on "subscription" ("environment_id", "plan_id");`,
    );
    this.addSql(
      `create unique index "subscription_lookup_key_unique" on "subscription" (environment_id, lookup_key) where status = 'published' and lookup_key <> '';`,
    );
    this.addSql(
      `create table "subscription_line_item" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default '', "subscription_id" text not null, "customer_id" text not null, "entity_type" text not null, "entity_id" text not null, "plan_display_name" text not null default '', "display_name" text not null default '', "price_id" text not null, "price_type" text not null, "meter_id" text null, "meter_display_name" text null, "currency" text not null, "quantity" numeric not null, "billing_period" text not null, "billing_period_count" int not null default 1, "invoice_cadence" text not null, "trial_period_days" int not null default 0, "start_date" timestamptz not null, "end_date" timestamptz null, "metadata" jsonb not null default '{}', primary key ("id"));`,
    );
    this.addSql(
      `create index "subscription_line_item_environment_id_subscription_a2f66_index" on "subscription_line_item" ("environment_id", "subscription_id", "start_date", "id");`,
    );
    this.addSql(
      `create index "subscription_line_item_environment_id_price_id_index" on "subscription_line_item" ("environment_id", "price_id");`,
    );
    this.addSql(
      `create table "subscription_schedule" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default '', "subscription_id" text not null, "schedule_type" text not null, "schedule_status" text not null, "scheduled_at" timestamptz not null, "executed_at" timestamptz null, "cancelled_at" timestamptz null, "configuration" jsonb not null default '{}', "execution_result" jsonb null, "error_message" text null, "metadata" jsonb not null default '{}', primary key ("id"));`,
    );
    this.addSql(
      `create index "subscription_schedule_environment_id_subscription_id_index" on "subscription_schedule" ("environment_id", "subscription_id");`,
    );
    this.addSql(
      `create table "tenant" ("id" text not null, "name" text not null, "state" text not null default 'active', "billing_details" jsonb not null default '{}', "metadata" jsonb not null default '{}', "status" text not null default 'published', "created_at" timestamptz not null, "updated_at" timestamptz not null, primary key ("id"));`,
    );
    this.addSql(
      `create table "test_clock" ("id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default '', "name" text not null default '', "frozen_time" timestamptz not null, "target_time" timestamptz null, "advance_started_at" timestamptz null, primary key ("id"));`,
    );
    this.addSql(
      `create index "test_clock_environment_id_created_at_id_index" on "test_clock" ("environment_id", "created_at", "id");`,
    );
    this.addSql(
      `create table "user_account" ("id" text not null, "tenant_id" text not null, "name" text not null default '', "email" text not null default '', "type" text not null, "roles" text[] not null, "metadata" jsonb not null default '{}', "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default '', primary key ("id"));`,
    );
    this.addSql(
      `create index "user_account_tenant_id_created_at_index" on "user_account" ("tenant_id", "created_at");`,
    );
    this.addSql('create sequence price_sequence');
  }
}
