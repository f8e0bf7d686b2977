import { Decimal as DecimalConstructor } from 'decimal.js';

/** Decimals wide enough that every product and sum of stored values is exact. */
export type Decimal = DecimalConstructor;
