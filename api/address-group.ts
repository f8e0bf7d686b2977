import { isIPv6 } from 'node:net';

const groupsOfNetwork = 4;

/**
 * Subscriber whom limits count for an address: an IPv4 address by itself, also in its IPv6 form, and of an IPv6 address the /64 that
 * one subscriber is given, within which it changes addresses at will.
 */
export function addressGroup(address: string): string {
  const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [plain = ''] = address.split('%', 1);
  if (!isIPv6(plain)) return address;
  // A dotted end stands in the last 32 bits, which are left out.
  const [start = '', end] = plain.toLowerCase().split('::');
  const head = start === '' ? [] : start.split(':');
  const tail = end === undefined || end === '' ? [] : end.split(':');
  const written = head.length + tail.length + (plain.includes('.') ? 1 : 0);
  const groups = end === undefined ? head : [...head, ...Array<string>(8 - written).fill('0'), ...tail];
  return `${groups
    .slice(0, groupsOfNetwork)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}
