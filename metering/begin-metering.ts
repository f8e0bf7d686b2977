import type { MeterDefinition } from './meter.ts';
import { refuseUnsupportedAggregation } from './meter.ts';
import { buildMeterRollups, type ScopedSql } from './postgres/build-rollups.ts';

/**
 * Makes a stored meter count, in the transaction that creates it or changes its filters: from its commit on, every event
 * of its name, whether it came before or after, is in its usage. Throws `not_implemented` for an aggregation this engine
 * does not compute yet. spec: catalogue-and-metering §5.2, §6.6
 */
export async function beginMetering(
  tx: ScopedSql,
  meter: { id: string; aggregation: MeterDefinition['aggregation'] },
): Promise<void> {
  refuseUnsupportedAggregation(meter.aggregation);
  await buildMeterRollups(tx, meter);
}
