import { describe, expect, test } from 'vitest';
import { isPrivate } from '../../../integrations/public-address.ts';

// Both ends and the middle of every special-purpose range of the registries, with what lies right beside each.
const privateV4 = `
  0.0.0.0 0.255.255.255 0.128.0.0 10.0.0.0 10.255.255.255 10.128.0.0
  100.64.0.0 100.127.255.255 100.96.0.0 127.0.0.0 127.255.255.255 127.128.0.0
  169.254.0.0 169.254.255.255 169.254.128.0 172.16.0.0 172.31.255.255 172.24.0.0
  192.0.0.0 192.0.0.255 192.0.0.128 192.0.2.0 192.0.2.255 192.0.2.128
  192.31.196.0 192.31.196.255 192.31.196.128 192.52.193.0 192.52.193.255 192.52.193.128
  192.88.99.0 192.88.99.255 192.88.99.128 192.168.0.0 192.168.255.255 192.168.128.0
  192.175.48.0 192.175.48.255 192.175.48.128 198.18.0.0 198.19.255.255 198.19.0.0
  198.51.100.0 198.51.100.255 198.51.100.128 203.0.113.0 203.0.113.255 203.0.113.128
  224.0.0.0 239.255.255.255 232.0.0.0 240.0.0.0 255.255.255.255 248.0.0.0
  232.255.255.255 232.128.0.0 239.0.0.0 239.128.0.0 169.254.169.254 100.100.100.200
  192.0.0.192 127.0.0.53 127.1.2.3
`;
const privateV6 = `
  :: ::1 ::2 ::ffff:0.0.0.0 ::ffff:10.0.0.1 ::ffff:127.0.0.1
  ::ffff:169.254.169.254 ::ffff:192.168.1.1 ::ffff:8.8.8.8 ::ffff:7f00:1 ::ffff:0:127.0.0.1 ::127.0.0.1
  ::10.0.0.1 ::8.8.8.8 64:ff9b:: 64:ff9b::10.0.0.1 64:ff9b::127.0.0.1 64:ff9b::169.254.169.254
  64:ff9b::8.8.8.8 64:ff9b::a9fe:a9fe 64:ff9b:1:: 64:ff9b:1::1 64:ff9b:1:ffff:ffff:ffff:ffff:ffff 64:ff9c::1
  100:: 100::1 100::ffff:ffff:ffff:ffff 100:0:0:1::1 1::1 1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  2001:: 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:1::1 2001:1::2 2001:2::
  2001:2::1 2001:3::1 2001:4:112::1 2001:10:: 2001:10::1 2001:20::
  2001:20::1 2001:2f:ffff::1 2001:30::1 2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff 2001:db8:: 2001:db8::1
  2001:db8:ffff:ffff:ffff:ffff:ffff:ffff 2001:DB8::1 2001:0db8:0000:0000:0000:0000:0000:0001 2002:: 2002::1 2002:7f00:1::
  2002:a00:1:: 2002:a9fe:a9fe::1 2002:c0a8:101::1 2002:808:808::1 2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2620:4f:8000::
  2620:4f:8000::1 2620:4f:8000:ffff:ffff:ffff:ffff:ffff 3fff:: 3fff::1 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff 4000::
  4000::1 5f00:: 5f00::1 8000::1 a000::1 c000::1
  e000::1 f000::1 fc00:: fc00::1 fcff::1 fd00::
  fd00::1 fd00:ec2::254 fd12:3456:789a:1::1 fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff fe00::1 fe80::
  fe80::1 fe80::1%lo fe80::a9fe:a9fe febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff fec0:: fec0::1
  feff::1 ff00:: ff01::1 ff02::1 ff02::2 ff05::1
  ff0e::1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2606:4700:4700::1111%eth0
`;
const publicV4 = `
  1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255
  128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255
  192.0.1.0 192.0.1.255 192.0.3.0 192.31.195.255 192.31.197.0 192.52.192.255
  192.52.194.0 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 192.175.47.255
  192.175.49.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255
  203.0.114.0 223.255.255.255 1.1.1.1 8.8.8.8 9.9.9.9 44.0.0.1
  93.184.215.14 128.0.0.1 140.82.112.3 151.101.1.69 172.64.0.1 185.199.108.153
  193.0.0.1 198.41.0.4 199.7.83.42
`;
const publicV6 = `
  2000::1 2001:200:: 2001:200::1 2001:4860:4860::8888 2001:500:88:200::8 2001:67c:2b0::1
  2001:db7:ffff::1 2001:db9::1 2003::1 2400:cb00:2048:1::1 2404:6800:4003::1 2600::1
  2602::1 2606:4700:4700::1111 2620:0:2d0:200::7 2620:4f:7fff::1 2620:4f:8001::1 2620:fe::fe
  2800:3f0::1 2a00:1450:4001::1 2a01:4f8::1 2a02:6b8::feed:ff 2a04:4e42::645 2c0f:fb50::1
  3000::1 3ffe:ffff::1 3fff:1000::1
`;
const noAddress = [
  '',
  'localhost',
  '127.1',
  '2130706433',
  '0x7f000001',
  '017700000001',
  '0177.0.0.1',
  '8.8.8',
  '8.8.8.8.8',
  '256.1.1.1',
  '8.8.8.8/32',
  '[2606:4700:4700::1111]',
  '2606:4700::1111::1',
  ' 8.8.8.8',
  '8.8.8.8 ',
  'example.com',
];

const each = (table: string) => table.trim().split(/\s+/);

describe('of the public internet', () => {
  test('there are enough rows to look at', () => {
    const rows = [privateV4, privateV6, publicV4, publicV6].flatMap(each);
    expect(new Set(rows).size).toBe(rows.length);
    expect(rows.length).toBeGreaterThanOrEqual(200);
  });

  test.each([...each(privateV4), ...each(privateV6), ...noAddress])('%s is not', (address) => {
    expect(isPrivate(address)).toBe(true);
  });

  test.each([...each(publicV4), ...each(publicV6)])('%s is', (address) => {
    expect(isPrivate(address)).toBe(false);
  });
});

describe('behind a translator of the operator', () => {
  const behind = (address: string) => isPrivate(address, ['64:ff9b::', '2001:67c:2b0:64::']);

  test.each(['64:ff9b::8.8.8.8', '64:ff9b::808:808', '2001:67c:2b0:64::1.1.1.1', '2001:67c:2b0:64:0:0:101:101'])(
    '%s is public as its IPv4 address is',
    (address) => expect(behind(address)).toBe(false),
  );

  test.each([
    '64:ff9b::10.0.0.1',
    '64:ff9b::a9fe:a9fe',
    '2001:67c:2b0:64::7f00:1',
    '2001:67c:2b0:64::',
    '64:ff9b:1::8.8.8.8',
  ])('%s is not', (address) => expect(behind(address)).toBe(true));

  test('what is beside it is judged by itself', () => {
    expect(behind('2001:67c:2b0:65::7f00:1')).toBe(false);
    expect(behind('fd00::8.8.8.8')).toBe(true);
  });
});
