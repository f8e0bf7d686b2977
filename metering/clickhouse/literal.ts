/** A text as ClickHouse reads it: backslashes and quotes escaped, nothing else is special between quotes. */
export function textLiteral(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}

/** That a text is one of these. */
export function isOneOf(text: string, texts: readonly string[]): string {
  return texts.length === 0 ? 'false' : `${text} in (${texts.map(textLiteral).join(', ')})`;
}

/** An array of integers of 64 bits; their texts hold nothing but digits and a sign. */
export function integerArray(numbers: readonly (number | bigint | string)[]): string {
  return `cast([${numbers.map(integer).join(', ')}], 'Array(Int64)')`;
}

/** That an integer is one of these. */
export function isNumberOf(column: string, numbers: readonly (number | bigint | string)[]): string {
  return numbers.length === 0 ? 'false' : `${column} in (${numbers.map(integer).join(', ')})`;
}

/** An integer as it stands in a statement. Throws for everything else. */
export function integer(number: number | bigint | string): string {
  const text = String(number);
  if (!/^-?[0-9]{1,20}$/.test(text)) throw new Error(`not an integer: ${text}`);
  return text;
}
