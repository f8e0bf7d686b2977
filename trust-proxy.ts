import { isIP } from 'node:net';

/** True for a text of `TRUST_PROXY`: whether, how many, or which proxies are in front. */
export function isTrustedProxy(text: string): boolean {
  if (/^(true|false|\d{1,2})$/.test(text)) return true;
  return text.split(',').every((entry) => {
    const [address = '', bits, ...more] = entry.trim().split('/');
    const version = isIP(address);
    return version !== 0 && more.length === 0 && (bits === undefined || isPrefixLength(bits, version));
  });
}

function isPrefixLength(bits: string, version: number): boolean {
  return /^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128);
}

/** Number of proxies in front, or their addresses; false when there is none. */
export function trustedProxy(text: string): false | number | string[] {
  if (text === 'true') return 1;
  if (text === 'false' || text === '0') return false;
  return /^\d+$/.test(text) ? Number(text) : text.split(',').map((entry) => entry.trim());
}
