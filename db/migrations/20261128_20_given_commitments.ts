import { Migration } from '@mikro-orm/migrations';

const frozenOfLine = [
  ...['id', 'invoice_id', 'status', 'position', 'subscription_line_item_id', 'price_id', 'meter_id', 'display_name'],
  ...['currency', 'quantity', 'amount', 'line_item_discount', 'invoice_level_discount', 'prepaid_credits_applied'],
  ...['period_start', 'period_end', 'price_unit', 'price_unit_id', 'price_unit_amount', 'price_unit_cost'],
  ...['conversion_rate', 'derivation', 'plan_display_name', 'commitment_info'],
];
const row = (of: string) => `row(${frozenOfLine.map((column) => `${of}."${column}"`).join(', ')})`;

/** Commitments of the lines of final invoices stay as they were, now that callers give them with lines. design: quality.md I19 */
export class Migration20261128_20_given_commitments extends Migration {
  override up(): void {
    this.addSql(`create or replace function invoice_line_item_update_frozen() returns trigger language plpgsql as $$ declare found text; begin
      select c.id into found from was c left join made a on a.id = c.id join invoice_document d on d.invoice_id = c."invoice_id"
        where a.id is null or ${row('a')} is distinct from ${row('c')} limit 1;
      if found is not null then
        raise exception 'invoice_line_item % is of a finalized invoice: a update changes its document; void it, credit it or replace it', found
          using errcode = 'integrity_constraint_violation';
      end if;
      return null;
    end $$`);
  }
}
