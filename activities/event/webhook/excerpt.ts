/** Longest excerpt of an answer. spec: platform §17.4 */
const mostBytes = 1_024;
const mask = '•••';
/** Shorter texts are not looked for in other forms than their own: everything would hold them. */
const leastLength = 4;
/** Length from which a word of a header's value is a secret by itself, such as the token behind `Bearer`. */
const leastWordLength = 8;

/**
 * Beginning of an answer as it may be kept and shown: text without control characters, with `secrets` replaced wherever they stand, as they
 * are, in base64 or as a part of a URL, and at the end also where only their beginning was read. 1 KiB at most.
 * design: people-and-events §B 26
 */
export function excerptOf(body: Uint8Array, secrets: readonly string[]): string {
  let text = Buffer.from(body)
    .toString('utf8')
    .replace(/\s+/g, ' ')
    // Left in, they would part a secret that is looked for as one.
    .replace(/\p{C}/gu, '')
    .trim();
  const forms = new Set(secrets.flatMap(wordsOf).flatMap(formsOf));
  for (const form of [...forms].sort((a, b) => b.length - a.length)) {
    text = text.replaceAll(form, mask);
    const cut = text.lastIndexOf(form.slice(0, leastLength));
    if (cut >= 0 && form.startsWith(text.slice(cut))) text = text.slice(0, cut) + mask;
  }
  return cutTo(text, mostBytes);
}

function wordsOf(secret: string): string[] {
  return [secret, ...secret.split(/[\s,]+/).filter((word) => word.length >= leastWordLength)];
}

function formsOf(secret: string): string[] {
  if (secret.length < leastLength) return secret === '' ? [] : [secret];
  const encoded = [0, 1, 2].map((offset) => base64Within(secret, offset));
  const forUrls = encoded.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'));
  return [secret, encodeURIComponent(secret), ...[...encoded, ...forUrls].filter((form) => form.length >= leastLength)];
}

/** The characters that are always there where a text is encoded as a part of another one, in which so many bytes modulo 3 are before it. */
function base64Within(text: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]);
  const encoded = bytes.toString('base64').replace(/=+$/, '');
  return encoded.slice(Math.ceil((offset * 8) / 6), bytes.length % 3 === 0 ? undefined : -1);
}

function cutTo(text: string, bytes: number): string {
  const all = Buffer.from(text);
  if (all.length <= bytes) return text;
  let end = bytes;
  // Back to where a character begins.
  while (((all[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return all.subarray(0, end).toString('utf8');
}
