import { BlockList, isIP } from 'node:net';

/** Ranges of IPv4 that are not of the public internet, by the registry of special-purpose addresses. */
const specialV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
];

/** Ranges within the global unicast range of IPv6 that stand for something else: Teredo, documentation, 6to4 and others. */
const specialV6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
];

const blockedV4 = listOf(specialV4, 'ipv4');
const blockedV6 = listOf(specialV6, 'ipv6');
const globalUnicast = listOf([['2000::', 3]], 'ipv6');

function listOf(ranges: readonly (readonly [string, number])[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const [net, prefix] of ranges) list.addSubnet(net, prefix, family);
  return list;
}

/**
 * True for every address that is not of the public internet; mapped and translated IPv4 addresses are none, and neither is what is no
 * address. `nat64Prefixes` are the operator's own translators, each the first 96 bits as `2001:67c:2b0:64::`: an address behind one is judged
 * by the IPv4 address it ends with. spec: platform §17.5 URL safety; design: people-and-events §A 12
 */
export function isPrivate(address: string, nat64Prefixes: readonly string[] = []): boolean {
  const family = isIP(address);
  if (family === 4) return blockedV4.check(address, 'ipv4');
  if (family !== 6 || address.includes('%')) return true;
  const translated = translatedV4(address, nat64Prefixes);
  if (translated !== null) return isPrivate(translated);
  return !globalUnicast.check(address, 'ipv6') || blockedV6.check(address, 'ipv6');
}

/** The IPv4 address that an address behind a translator stands for; null for every other. */
function translatedV4(address: string, prefixes: readonly string[]): string | null {
  const groups = groupsOf(address);
  const isBehind = prefixes.some((prefix) => {
    const head = groupsOf(prefix);
    return groups.slice(0, 6).every((group, index) => group === head[index]);
  });
  if (!isBehind) return null;
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 255])
    .join('.');
}

/** The eight groups of an IPv6 address, which may end in the form of IPv4. */
function groupsOf(address: string): number[] {
  // The parser of URLs writes every form as compressed hexadecimal groups.
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = text.split('::');
  const numbers = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)));
  if (tail === undefined) return numbers(head);
  const [first, last] = [numbers(head), numbers(tail)];
  return [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
}
