import { Migration } from '@mikro-orm/migrations';

/**
 * Whether an event meets filters, for reading very many of them: without a query for each filter of each event, and with the text of
 * a text taken directly. The rule is that of migration 02. spec: catalogue-and-metering §7.1
 */
export class Migration20261122_83_raw_reading extends Migration {
  override up(): void {
    this.addSql(matches);
  }
}

const matches = `
create or replace function usage.matches(props json, filters jsonb) returns boolean immutable parallel safe language plpgsql as $$
declare
  filter jsonb;
  v json;
begin
  for i in 0 .. jsonb_array_length(filters) - 1 loop
    filter := filters -> i;
    v := props -> (filter ->> 'key');
    if not coalesce((filter -> 'values') ? case when json_typeof(v) = 'string' then v #>> '{}' else usage.text_form(v) end, false) then
      return false;
    end if;
  end loop;
  return true;
end $$`;
