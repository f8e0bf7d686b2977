import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson } from '../../../api/plugins/json-body.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { compileExpression } from '../../../metering/expression.ts';
import { expressionQuantity } from '../../../metering/expression-value.ts';
import { decimalOfScaled } from '../../../metering/quantity.ts';
import { testDatabase } from '../../support/database.ts';

const { database, scope } = await testDatabase();

const value = fc.oneof(
  fc.constantFrom(
    '0',
    '1',
    '-1',
    '2',
    '0.5',
    '-2.5',
    '1e29',
    '1e30',
    '-1e31',
    '"12.25"',
    '"+3"',
    '".5"',
    '"1e2"',
    '"x"',
  ),
  fc.constantFrom('null', 'true', '{}', '[]', '""', '" 1"', '1e-999', '"1e-1000"', '"1e1000"', '1e-14', '5e-16'),
  fc.constantFrom(
    '99999999999999999999.999999999999999',
    '0.000000000000000000000000000001',
    `"${'7'.repeat(300)}e-290"`,
  ),
  fc.integer({ min: -1_000_000, max: 1_000_000 }).map(String),
  fc.integer({ min: -1_000_000, max: 1_000_000 }).map((n) => `"${n / 1000}"`),
);

const number: fc.Arbitrary<string> = fc.letrec<{ number: string; condition: string }>((tie) => ({
  number: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('n', 'm', 'absent', '0', '1', '2', '3', '0.001', '1.5', '1e20'),
    fc.tuple(tie('number'), fc.constantFrom('+', '-', '*', '/'), tie('number')).map((parts) => `(${parts.join(' ')})`),
    fc.tuple(fc.constantFrom('min', 'max', 'pow'), tie('number'), tie('number')).map(([f, a, b]) => `${f}(${a}, ${b})`),
    fc
      .tuple(fc.constantFrom('abs', 'ceil', 'floor', 'round', 'sqrt', 'log', '-'), tie('number'))
      .map(([f, a]) => `${f}(${a})`),
    fc.tuple(tie('condition'), tie('number'), tie('number')).map(([c, a, b]) => `(${c} ? ${a} : ${b})`),
  ),
  condition: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.tuple(tie('number'), fc.constantFrom('<', '<=', '>', '>=', '==', '!='), tie('number')).map((c) => c.join(' ')),
    fc.tuple(tie('condition'), fc.constantFrom('&&', '||'), tie('condition')).map((c) => `(${c.join(' ')})`),
    tie('condition').map((c) => `!(${c})`),
  ),
})).number;

const expression = number
  .map((text) => `n * 0 + ${text}`)
  .filter((text) => {
    try {
      compileExpression(text);
      return true;
    } catch {
      return false;
    }
  });

test('the database evaluates expressions as the process that ingests does', { timeout: 120_000 }, async () => {
  const property = fc.asyncProperty(
    fc.array(
      fc.tuple(expression, fc.option(value), fc.option(value), fc.constantFrom(null, '2', '0.000000000000001')),
      {
        minLength: 40,
        maxLength: 60,
      },
    ),
    async (cases) => {
      const asked = cases.map(([text, n, m, multiplier]) => ({
        text,
        json: `{${[n === null ? [] : [`"n":${n}`], m === null ? [] : [`"m":${m}`]].flat().join(',')}}`,
        program: compileExpression(text, multiplier),
      }));
      const rows = await inSqlTransaction(database, scope, (tx) =>
        tx.rows<{ quantity: string | null }>(
          `select trim_scale(usage.expression_value(props::json, array(select jsonb_array_elements_text(program))))::text as quantity
           from unnest($1::text[], $2::jsonb[]) with ordinality as asked(props, program, ord) order by ord`,
          [asked.map(({ json }) => json), asked.map(({ program }) => JSON.stringify(program))],
        ),
      );
      const inProcess = asked.map(({ json, program, text }) => {
        const properties = rawProperties(json);
        const quantity = expressionQuantity(program, (name) => properties[name]);
        return { text, json, quantity: quantity === null ? null : decimalOfScaled(quantity) };
      });
      expect(asked.map(({ text, json }, index) => ({ text, json, quantity: rows[index]?.quantity ?? null }))).toEqual(
        inProcess,
      );
    },
  );
  await fc.assert(property, { numRuns: 20 });
});

/** Numbers keep the digits of their text, as request bodies do (api/plugins/json-body.ts). */
function rawProperties(json: string): Record<string, unknown> {
  return parseJson(json) as Record<string, unknown>;
}
