import { type Browser, chromium } from 'playwright-core';

const quietly = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];

/** The Chromium that is installed, or the one that `CHROMIUM` names; the caller closes it. Nothing is downloaded. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: quietly });
}
