declare global {
  /** A number of a JSON text that no binary float keeps; `JSON.stringify` writes its text back. */
  interface RawJson {
    readonly rawJSON: string;
  }
  interface JSON {
    rawJSON(text: string): RawJson;
    isRawJSON(value: unknown): value is RawJson;
  }
}

const decimalPattern = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/;
const maxDigits = 60;
const storedScale = 15;

/**
 * The canonical text of a decimal: plain notation, no padding, `0` never `-0`; null when the text is not a decimal or has
 * more than 60 digits before or 60 after the point. spec: catalogue-and-metering §1.1 N6
 */
export function canonicalDecimal(text: string): string | null {
  const match = text.length <= 200 ? decimalPattern.exec(text) : null;
  if (!match) return null;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  if (whole === '' && fraction === '') return null;
  const shift = Number(exponent);
  if (Math.abs(shift) > maxDigits * 2) return null;
  const digits = whole + fraction;
  const point = whole.length + shift;
  const integer = (point > 0 ? digits.slice(0, point).padEnd(point, '0') : '').replace(/^0+/, '');
  const decimals = (point > 0 ? digits.slice(point) : '0'.repeat(-point) + digits).replace(/0+$/, '');
  if (integer.length > maxDigits || decimals.length > maxDigits) return null;
  const plain = decimals === '' ? integer || '0' : `${integer || '0'}.${decimals}`;
  return sign === '-' && plain !== '0' ? `-${plain}` : plain;
}

/** A canonical decimal at the stored scale of 15 decimals, rounded half away from zero. spec: catalogue-and-metering §1.1 N3 */
export function atStoredScale(plain: string): string {
  const [whole = '0', fraction = ''] = plain.split('.');
  if (fraction.length <= storedScale) return plain;
  const sign = whole.startsWith('-') ? '-' : '';
  const kept = BigInt(whole.replace('-', '') + fraction.slice(0, storedScale));
  const rounded = String(kept + (Number(fraction[storedScale]) >= 5 ? 1n : 0n)).padStart(storedScale + 1, '0');
  return canonicalDecimal(`${sign}${rounded.slice(0, -storedScale)}.${rounded.slice(-storedScale)}`) ?? plain;
}

/** A decimal string as the raw JSON number that few responses carry. spec: catalogue-and-metering §1.1 N2 */
export function jsonNumber(decimal: string): RawJson {
  return JSON.rawJSON(canonicalDecimal(decimal) ?? '0');
}
