import { inflateSync } from 'node:zlib';

/**
 * A font as Typst reads it: what is packed as WOFF 1.0 is unpacked, and every other file is left as it is. Throws for a file that is cut off.
 */
export function unpackedFont(file: Buffer): Buffer {
  if (file.toString('latin1', 0, 4) !== 'wOFF') return file;
  const count = file.readUInt16BE(12);
  const tables = Array.from({ length: count }, (_, index) => {
    const at = 44 + index * 20;
    const [offset, packed, length] = [4, 8, 12].map((place) => file.readUInt32BE(at + place)) as [
      number,
      number,
      number,
    ];
    const bytes = file.subarray(offset, offset + packed);
    return {
      tag: file.subarray(at, at + 4),
      checksum: file.readUInt32BE(at + 16),
      length,
      bytes: packed < length ? inflateSync(bytes) : bytes,
    };
  });
  const power = Math.floor(Math.log2(count));
  const head = Buffer.alloc(12 + count * 16);
  file.copy(head, 0, 4, 8);
  head.writeUInt16BE(count, 4);
  head.writeUInt16BE(16 * 2 ** power, 6);
  head.writeUInt16BE(power, 8);
  head.writeUInt16BE(16 * (count - 2 ** power), 10);
  const parts: Buffer[] = [head];
  let end = head.length;
  for (const [index, { tag, checksum, length, bytes }] of tables.entries()) {
    const at = 12 + index * 16;
    tag.copy(head, at);
    head.writeUInt32BE(checksum, at + 4);
    head.writeUInt32BE(end, at + 8);
    head.writeUInt32BE(length, at + 12);
    const padding = Buffer.alloc((4 - (length % 4)) % 4);
    parts.push(bytes, padding);
    end += length + padding.length;
  }
  return Buffer.concat(parts);
}

/** First and last code points, in pairs, that an unpacked font has a glyph for: its `cmap` in the formats 4 and 12. */
export function coveredRanges(font: Buffer): [first: number, last: number][] {
  const start = tableAt(font, 'cmap');
  if (start === null) return [];
  const count = font.readUInt16BE(start + 2);
  const places = Array.from({ length: count }, (_, index) => start + font.readUInt32BE(start + 8 + index * 8));
  return [...new Set(places)].flatMap((at) => {
    const format = font.readUInt16BE(at);
    if (format === 12) return groupsOf(font, at);
    return format === 4 ? segmentsOf(font, at) : [];
  });
}

function tableAt(font: Buffer, name: string): number | null {
  for (let index = 0; index < font.readUInt16BE(4); index += 1) {
    const at = 12 + index * 16;
    if (font.toString('latin1', at, at + 4) === name) return font.readUInt32BE(at + 8);
  }
  return null;
}

function groupsOf(font: Buffer, at: number): [number, number][] {
  return Array.from({ length: font.readUInt32BE(at + 12) }, (_, index) => {
    const group = at + 16 + index * 12;
    return [font.readUInt32BE(group), font.readUInt32BE(group + 4)];
  });
}

function segmentsOf(font: Buffer, at: number): [number, number][] {
  const length = font.readUInt16BE(at + 6);
  return Array.from({ length: length / 2 }, (_, index): [number, number] => {
    const last = at + 14 + index * 2;
    return [font.readUInt16BE(last + length + 2), font.readUInt16BE(last)];
  }).filter(([first]) => first < 0xffff);
}
