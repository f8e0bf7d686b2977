import { describe, expect, test } from 'vitest';
import { checkedAddress, directAddress, isPrivate } from '../../integrations/guarded-download.ts';

describe('an address', () => {
  test.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.31.255.255',
    '192.168.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    'fe80::1',
    'fd00::1',
    'ff02::1',
    '::ffff:10.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::a00:1',
    '2002:a00:1::',
    '2001:db8::1',
  ])('%s is not of the public internet', (address) => {
    expect(isPrivate(address)).toBe(true);
  });

  test.each(['8.8.8.8', '172.32.0.1', '2606:4700:4700::1111', '2a00:1450:4001::1'])('%s is', (address) => {
    expect(isPrivate(address)).toBe(false);
  });
});

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
