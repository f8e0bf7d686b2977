import { Migration } from '@mikro-orm/migrations';

/**
 * What roll-ups and readings of meters with an expression, a bucket size or groups need: the steps of the expression, which
 * metering writes when the meter is made, and the functions that give a raw event its value and its group.
 */
export class Migration20261122_06_aggregations extends Migration {
  override up(): void {
    this.addSql('alter table "meter" add column "expression_program" jsonb null');
    for (const text of [
      keptNumber,
      expressionNumber,
      power,
      expressionFunction,
      expressionValue,
      groupKey,
      rollupGrain,
    ]) {
      this.addSql(text);
    }
  }
}

// The rules of metering/expression-value.ts and metering/property-value.ts for raw rows; property tests hold them equal, and
// `npm run check` compares what one wrote with what the other reads. spec: catalogue-and-metering §5.3

// Most values are short: their length proves that nothing is to be cut.
const keptNumber = `create function usage.kept(x numeric) returns numeric immutable strict parallel safe language plpgsql as $$
declare
  t text := trim_scale(abs(x))::text;
  e int;
begin
  if length(t) <= 100 then return trim_scale(x); end if;
  e := case when abs(x) >= 1 then length(split_part(t, '.', 1)) - 1 else -length(substring(t from '^0[.](0*)')) - 1 end;
  if e >= 1000 then return null; end if;
  if e < -1000 then return 0; end if;
  return trim_scale(round(x, 99 - e));
end $$`;

const expressionNumber = `
create function usage.expression_number(v json) returns numeric immutable parallel safe language plpgsql as $$
declare
  t text;
  x numeric;
begin
  if v is null then return 0; end if;
  if json_typeof(v) not in ('number', 'string') then return null; end if;
  t := v #>> '{}';
  if t ~ '^-?[0-9]{1,15}([.][0-9]{1,15})?$' then return trim_scale(t::numeric); end if;
  if t !~ '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$' or usage.is_unusable_number(t) then return null; end if;
  x := t::numeric;
  if abs(x) >= 1e30 then return null; end if;
  return usage.kept(x);
end $$`;

const power = `
create function usage.expression_power(x numeric, y numeric) returns numeric immutable parallel safe language plpgsql as $$
declare
  magnitude numeric;
  p numeric;
begin
  if y = 0 then return 1; end if;
  if x = 0 then return case when y > 0 then 0 end; end if;
  if abs(y) >= 1e30 or (x < 0 and y <> trunc(y)) then return null; end if;
  magnitude := log(abs(x)) * y;
  if magnitude >= 31 then return null; end if;
  if magnitude < -17 then return 0; end if;
  p := power(x + 0.0000000000000000000000000000000000000000, y);
  if abs(p) >= 1e30 then return null; end if;
  return trim_scale(round(p, 15));
end $$`;

// The zeros that are added give roots and logarithms 40 decimals before they are rounded to 15. A quotient that is cut
// after 100 significant digits and then rounded is rounded as if it had been known whole.
const expressionFunction = `
create function usage.expression_step(op text, a numeric, b numeric) returns numeric immutable parallel safe language plpgsql as $$
declare
  shift int;
begin
  case op
    when '+' then return usage.kept(a + b);
    when '-' then return usage.kept(a - b);
    when '*' then return usage.kept(a * b);
    when '/' then
      if b = 0 then return null; end if;
      if a = 0 then return 0; end if;
      shift := greatest(0, 103 + ceil(log(abs(b)))::int - floor(log(abs(a)))::int);
      return usage.kept(sign(a) * sign(b) * div(abs(a) * ('1e' || shift)::numeric, abs(b)) * ('1e-' || shift)::numeric);
    when '<' then return (a < b)::int;
    when '<=' then return (a <= b)::int;
    when '>' then return (a > b)::int;
    when '>=' then return (a >= b)::int;
    when '==' then return (a = b)::int;
    when '!=' then return (a <> b)::int;
    when 'min' then return least(a, b);
    when 'max' then return greatest(a, b);
    when 'neg' then return -b;
    when 'not' then return (b = 0)::int;
    when 'abs' then return abs(b);
    when 'ceil' then return ceil(b);
    when 'floor' then return floor(b);
    when 'round' then return round(b);
    when 'sqrt' then
      return case when b >= 0 and b < 1e60 then trim_scale(round(sqrt(b + 0.0000000000000000000000000000000000000000), 15)) end;
    when 'log' then
      return case when b > 0 then trim_scale(round(ln(b + 0.0000000000000000000000000000000000000000), 15)) end;
    when 'pow' then return usage.expression_power(a, b);
  end case;
end $$`;

// The stack machine of metering/expression-value.ts: name, argument, name, argument … A step that fails gives null.
const expressionValue = `
create function usage.expression_value(props json, program text[]) returns numeric immutable parallel safe language plpgsql as $$
declare
  stack numeric[] := '{}';
  top int := 0;
  pc int := 1;
  last int := cardinality(program);
  op text;
  x numeric;
begin
  while pc < last loop
    op := program[pc];
    pc := pc + 2;
    if op = 'property' then
      top := top + 1;
      x := usage.expression_number(props -> program[pc - 1]);
    elsif op = 'const' then
      top := top + 1;
      x := program[pc - 1]::numeric;
    elsif op = 'jump' then
      pc := program[pc - 1]::int + 1;
      continue;
    elsif op = 'branch' then
      top := top - 1;
      if stack[top + 1] = 0 then pc := program[pc - 1]::int + 1; end if;
      continue;
    elsif op in ('and', 'or') then
      if (stack[top] = 0) = (op = 'and') then pc := program[pc - 1]::int + 1; else top := top - 1; end if;
      continue;
    elsif op in ('neg', 'not', 'abs', 'ceil', 'floor', 'round', 'sqrt', 'log') then
      x := usage.expression_step(op, null, stack[top]);
    else
      top := top - 1;
      x := usage.expression_step(op, stack[top], stack[top + 1]);
    end if;
    if x is null then return null; end if;
    stack[top] := x;
  end loop;
  if abs(stack[1]) >= 1e30 then return null; end if;
  return round(stack[1], 15);
end $$`;

const groupKey = `
create function usage.group_key(v json) returns text immutable parallel safe language plpgsql as $$
declare
  t text := coalesce(usage.text_form(v), '');
begin
  if octet_length(t) <= 1000 then return t; end if;
  return left(t, 200) || '#' || usage.digest(t)::text;
end $$`;

// How long one roll-up row of a meter lasts: metering/meter.ts rollupMinutes.
const rollupGrain = `
create function usage.rollup_grain(bucket_size text) returns interval immutable parallel safe language sql as
$$ select case bucket_size when 'MINUTE' then interval '1 minute' else
   case when bucket_size is null then interval '1 hour' else interval '15 minutes' end end $$`;
