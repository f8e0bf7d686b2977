import { lookup as resolveAll } from 'node:dns/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** What a deployment allows outgoing requests beyond public https addresses. */
export interface OutgoingPolicy {
  /** `host` or `host:port` that may be private and may be plain http: an object store of one's own, a test's server. */
  readonly allowedHosts: readonly string[];
}

/** Why nothing was fetched: for the caller's eyes. `again` is true when trying once more may help. */
export class DownloadRefused extends Error {
  readonly again: boolean;

  constructor(message: string, again = false) {
    super(message);
    this.again = again;
  }
}

const maxRedirects = 3;
const answerTimeoutMs = 30_000;

/**
 * Opens a file that a caller named by its address: https only, to public addresses only, which are checked when the
 * connection is made, so that a name cannot change meanwhile; redirects are followed three times and checked like the
 * first address. The answer's body is not read yet. Throws `DownloadRefused`. spec: platform §23 Outbound requests
 */
export async function openDownload(
  address: string,
  policy: OutgoingPolicy,
  signal?: AbortSignal,
): Promise<IncomingMessage> {
  let url = checkedAddress(directAddress(address), policy);
  for (let redirects = 0; ; redirects += 1) {
    const answer = await ask(url, policy, signal);
    const status = answer.statusCode ?? 0;
    if (status === 200) return answer;
    answer.destroy();
    const location = answer.headers.location;
    if (status < 300 || status > 399 || !location) {
      throw new DownloadRefused(`the server of file_url answered ${status}`, status >= 500 || status === 429);
    }
    if (redirects === maxRedirects) throw new DownloadRefused(`file_url is redirected more than ${maxRedirects} times`);
    if (!URL.canParse(location, url.href)) throw new DownloadRefused('file_url is redirected to what is no address');
    url = checkedAddress(new URL(location, url).href, policy);
  }
}

/** An address that may be asked. Throws `DownloadRefused` saying what would be. spec: platform §17.5 URL safety */
export function checkedAddress(text: string, policy: OutgoingPolicy): URL {
  if (!URL.canParse(text)) throw new DownloadRefused('file_url must be an https address');
  const url = new URL(text);
  const isAllowed = allows(policy, url);
  if (url.protocol !== 'https:' && !(isAllowed && url.protocol === 'http:')) {
    throw new DownloadRefused('file_url must be an https address');
  }
  if (url.username !== '' || url.password !== '') throw new DownloadRefused('file_url must not carry credentials');
  const port = Number(url.port || 443);
  if (!isAllowed && port !== 443 && port < 1024)
    throw new DownloadRefused('file_url must have port 443 or one above 1023');
  const host = hostOf(url);
  if (!isAllowed && isIP(host) !== 0 && isPrivate(host)) throw new DownloadRefused(privateAddress);
  return url;
}

const privateAddress = 'file_url leads to an address that is not public';

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

function allows({ allowedHosts }: OutgoingPolicy, url: URL): boolean {
  return allowedHosts.includes(url.host) || allowedHosts.includes(url.hostname);
}

function ask(url: URL, policy: OutgoingPolicy, signal?: AbortSignal): Promise<IncomingMessage> {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const fail = (error: Error) =>
      reject(error instanceof DownloadRefused ? error : new DownloadRefused('file_url could not be reached', true));
    const sent = send(url, {
      agent: false,
      minVersion: 'TLSv1.2',
      headers: { accept: '*/*', 'accept-encoding': 'gzip, identity' },
      ...(allows(policy, url) ? {} : { lookup: publicLookup }),
      ...(signal ? { signal } : {}),
    });
    sent.setTimeout(answerTimeoutMs, () => sent.destroy(new DownloadRefused('file_url did not answer in time', true)));
    sent.on('response', resolve);
    sent.on('error', fail);
    sent.end();
  });
}

/** Gives the connection only addresses that are public: one private address among them refuses the name. */
const publicLookup: LookupFunction = (hostname, options, done) => {
  resolveAll(hostname, { all: true, verbatim: true }).then(
    (found) => {
      const [first] = found;
      if (!first || found.some(({ address }) => isPrivate(address))) {
        done(new DownloadRefused(privateAddress), '', 0);
      } else if (options.all) done(null, found);
      else done(null, first.address, first.family);
    },
    () => done(new DownloadRefused('the host of file_url is not known', true), '', 0),
  );
};

const privateRanges: readonly (readonly [string, number, 'ipv4' | 'ipv6'])[] = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.0.2.0', 24, 'ipv4'],
  ['192.88.99.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['198.51.100.0', 24, 'ipv4'],
  ['203.0.113.0', 24, 'ipv4'],
  ['224.0.0.0', 3, 'ipv4'],
];
const blocked = new BlockList();
for (const [net, prefix, family] of privateRanges) blocked.addSubnet(net, prefix, family);
// Of IPv6 only the global unicast range is public; within it, what stands for something else is not.
const publicV6 = new BlockList();
publicV6.addSubnet('2000::', 3, 'ipv6');
const specialV6 = new BlockList();
for (const [net, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  specialV6.addSubnet(net, prefix, 'ipv6');
}

/** True for every address that is not of the public internet; mapped and translated IPv4 addresses are none. */
export function isPrivate(address: string): boolean {
  if (isIP(address) === 4) return blocked.check(address, 'ipv4');
  return !publicV6.check(address, 'ipv6') || specialV6.check(address, 'ipv6');
}

/** The direct download behind a share link of a common drive or code host. spec: platform §18 Processing */
export function directAddress(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  const drive = /^\/file\/d\/([\w-]+)/.exec(url.pathname)?.[1] ?? url.searchParams.get('id');
  if (url.hostname === 'drive.google.com' && drive) {
    return `https://drive.google.com/uc?export=download&id=${drive}`;
  }
  if (/^(www\.)?dropbox\.com$/.test(url.hostname)) {
    url.searchParams.set('dl', '1');
    return url.href;
  }
  const blob = /^(\/[^/]+\/[^/]+)\/blob\/(.+)$/.exec(url.pathname);
  if (url.hostname === 'github.com' && blob) return `https://raw.githubusercontent.com${blob[1]}/${blob[2]}`;
  if (url.hostname === 'gitlab.com') return text.replace('/-/blob/', '/-/raw/');
  return text;
}
