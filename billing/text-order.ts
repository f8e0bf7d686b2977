/**
 * Which of two texts comes first, by code point and never by a locale: negative, 0 or positive.
 * spec: catalogue-and-metering §1.3
 */
export function compareText(a: string, b: string): number {
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    const [unit, other] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (unit !== other) return rankOf(unit) - rankOf(other);
  }
  return a.length - b.length;
}

/** The halves of code points beyond U+FFFF stand in the middle of UTF-16, but belong behind all the others. */
function rankOf(unit: number): number {
  if (unit >= 0xe000) return unit - 0x800;
  return unit >= 0xd800 ? unit + 0x2000 : unit;
}
