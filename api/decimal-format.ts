import type { ScopedSql } from '../db/transaction.ts';
import { type SettingValue, settingDefaults } from '../services/platform/setting-defaults.ts';
import { jsonNumber } from './decimal.ts';

/** Form of a decimal of which the interface document and the published clients say different things. */
export type DecimalFormat = (decimal: string) => RawJson | string;

/**
 * The format of the environment's setting `decimal_format`: `interface` (default) gives the JSON number which the interface
 * document shows, `string` the decimal string which the published Go and Python clients declare. For members with
 * `formattedOutput()` alone; what those clients declare as a number stays one in both. spec: decision 42
 */
export async function decimalFormat(tx: ScopedSql): Promise<DecimalFormat> {
  const sql = "select value from setting where environment_id = $1 and key = 'decimal_format' and status = 'published'";
  const [stored] = await tx.rows<{ value: Partial<SettingValue<'decimal_format'>> }>(sql, [tx.scope.environmentId]);
  const { format } = { ...settingDefaults.decimal_format, ...stored?.value };
  return format === 'string' ? (decimal) => decimal : jsonNumber;
}

/** Null stays null. */
export function formatted(format: DecimalFormat, decimal: string | null): RawJson | string | null {
  return decimal === null ? null : format(decimal);
}
