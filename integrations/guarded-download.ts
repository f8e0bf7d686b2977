import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { AddressRefused, checkedUrl, guardSocket, type OutgoingPolicy } from './guarded-client.ts';

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
  try {
    return checkedUrl(text, policy);
  } catch (error) {
    throw ofFile(error);
  }
}

/** Refusal of a guard, said of the field. */
function ofFile(error: unknown): unknown {
  return error instanceof AddressRefused ? new DownloadRefused(`file_url ${error.message}`, error.again) : error;
}

function ask(url: URL, policy: OutgoingPolicy, signal?: AbortSignal): Promise<IncomingMessage> {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const { lookup, verify } = guardSocket(url, policy);
  return new Promise((resolve, reject) => {
    const sent = send(url, {
      agent: false,
      minVersion: 'TLSv1.2',
      headers: { accept: '*/*', 'accept-encoding': 'gzip, identity' },
      ...(lookup ? { lookup } : {}),
      ...(signal ? { signal } : {}),
    });
    // From the look-up of the name to the last header: one that comes byte by byte does not begin it anew.
    const late = () => sent.destroy(new DownloadRefused('file_url did not answer in time', true));
    const timer = setTimeout(late, answerTimeoutMs);
    sent.on('socket', (socket) => {
      socket.once('connect', () => {
        try {
          verify(socket);
        } catch (error) {
          sent.destroy(error as Error);
        }
      });
    });
    sent.on('response', (answer) => {
      clearTimeout(timer);
      resolve(answer);
    });
    sent.on('error', (error) => {
      clearTimeout(timer);
      const told = ofFile(error);
      reject(told instanceof DownloadRefused ? told : new DownloadRefused('file_url could not be reached', true));
    });
    sent.end();
  });
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
