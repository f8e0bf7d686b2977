import { describe, expect, test } from 'vitest';
import { checkedAddress, directAddress } from '../../../integrations/guarded-download.ts';

describe('a policy', () => {
  const allowing = (...allowedHosts: string[]) => ({ allowedHosts });

  test.each([
    ['http://example.com/', 'must be an https address'],
    ['https://u@example.com/', 'must not carry credentials'],
    ['https://example.com:22/', 'must have port 443'],
    ['https://[::ffff:7f00:1]/', 'not public'],
    ['https://2130706433/', 'not public'],
    ['https://0x7f.1/', 'not public'],
  ])('refuses %s', (url, reason) => {
    expect(() => checkedAddress(url, allowing())).toThrow(reason);
  });

  test('lets through what it names, with the port or for every port', () => {
    expect(checkedAddress('http://minio:9000/a', allowing('minio:9000')).host).toBe('minio:9000');
    expect(checkedAddress('http://minio:9000/a', allowing('minio')).host).toBe('minio:9000');
    expect(() => checkedAddress('http://minio:9001/a', allowing('minio:9000'))).toThrow();
  });
});

test.each([
  ['https://drive.google.com/file/d/abc_-1/view?usp=sharing', 'https://drive.google.com/uc?export=download&id=abc_-1'],
  ['https://www.dropbox.com/s/x/a.csv?dl=0', 'https://www.dropbox.com/s/x/a.csv?dl=1'],
  ['https://github.com/o/r/blob/main/d/a.csv', 'https://raw.githubusercontent.com/o/r/main/d/a.csv'],
  ['https://gitlab.com/o/r/-/blob/main/a.csv', 'https://gitlab.com/o/r/-/raw/main/a.csv'],
  ['https://example.com/blob/a.csv', 'https://example.com/blob/a.csv'],
])('the share link %s leads to the file', (link, file) => {
  expect(directAddress(link)).toBe(file);
});
