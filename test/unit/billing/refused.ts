import { refusalIn } from '../../../billing/refusal.ts';

/** The refusal a call throws; null when it throws none. Anything else thrown stays thrown. */
export function refusalOf(call: () => unknown): ReturnType<typeof refusalIn> {
  try {
    call();
  } catch (thrown) {
    const refusal = refusalIn(thrown);
    if (!refusal) throw thrown;
    return refusal;
  }
  return null;
}
