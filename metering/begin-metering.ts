import type { ScopedSql } from '../db/transaction.ts';
import { compileExpression } from './expression.ts';
import type { MeterDefinition } from './meter.ts';
import { applyMeter } from './postgres/meter-build.ts';

/**
 * Makes a stored meter count, in the transaction that creates it or changes its filters: from its commit on, every event
 * of its name, whether it came before or after, is in its usage; true when it is still to be built, in the background. The steps of an expression are kept with the meter, for
 * the database to evaluate raw events. Throws `validation_error` for an expression outside the language.
 * spec: catalogue-and-metering §5.2, §5.3, §6.6
 */
export async function beginMetering(
  tx: ScopedSql,
  meter: { id: string; aggregation: MeterDefinition['aggregation'] },
): Promise<boolean> {
  const { expression, multiplier } = meter.aggregation;
  if (expression) {
    const program = JSON.stringify(compileExpression(expression, multiplier));
    await tx.rows('update meter set expression_program = $3 where environment_id = $1 and id = $2', [
      tx.scope.environmentId,
      meter.id,
      program,
    ]);
  }
  return applyMeter(tx, meter);
}
