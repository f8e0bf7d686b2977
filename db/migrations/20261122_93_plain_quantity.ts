import { Migration } from '@mikro-orm/migrations';

/**
 * A quantity of at most 16 digits with at most one point is taken without regular expressions, which cost more than all the rest
 * of reading an event. Everything else is read as before. spec: catalogue-and-metering §7.1 Coercion to number
 */
export class Migration20261122_93_plain_quantity extends Migration {
  override up(): void {
    this.addSql(`create or replace function usage.quantity(v json) returns numeric immutable parallel safe language plpgsql as $$
      declare
        t text := v #>> '{}';
        q numeric;
      begin
        if octet_length(t) <= 16 and translate(t, '0123456789', '') in ('', '.') and t <> '' and t <> '.' then return t::numeric; end if;
        if v is null or json_typeof(v) not in ('number', 'string') then return 0; end if;
        if t !~ '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$' or usage.is_unusable_number(t) then return 0; end if;
        q := t::numeric;
        if abs(q) >= 1e30 then return 0; end if;
        return round(q, 15);
      end $$`);
  }
}
