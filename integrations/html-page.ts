import { createHash } from 'node:crypto';

/** A self-contained page, and the policy under which a browser shows it. */
export interface RenderedPage {
  html: string;
  contentSecurityPolicy: string;
  /** Policy of telling others the page's address, which may be a secret: its origin at the most. */
  referrerPolicy: 'no-referrer' | 'strict-origin';
}

/** Origins that a page lets in for a provider: those that it asks, and those of a script that is not its own. */
export interface ForeignOrigins {
  connects: readonly string[];
  scripts?: readonly string[];
  frames?: readonly string[];
  styles?: readonly string[];
}

interface PolicyParts {
  style: string;
  scripts?: readonly string[];
  hasForms: boolean;
  foreign?: ForeignOrigins | null;
}

/**
 * Policy of a page that loads nothing: its own style, pictures inside the page and, where it has them, its own scripts, which may ask
 * the page's server. `style` and `scripts` are the exact contents of the page's elements. Forms go to the page's server or nowhere. What
 * `foreign` names is let in besides; its scripts may style elements that they make.
 */
export function pagePolicy({ style, scripts = [], hasForms, foreign }: PolicyParts): string {
  const scriptSources = [...scripts.map(sourceHash), ...(foreign?.scripts ?? [])].join(' ');
  const connectSources = ["'self'", ...(foreign?.connects ?? [])].join(' ');
  return [
    "default-src 'none'",
    `style-src ${[sourceHash(style), ...(foreign?.styles ?? [])].join(' ')}`,
    ...(foreign?.frames ? ["style-src-attr 'unsafe-inline'", `frame-src ${foreign.frames.join(' ')}`] : []),
    ...(scriptSources === '' ? [] : [`script-src ${scriptSources}`, `connect-src ${connectSources}`]),
    'img-src data:',
    "base-uri 'none'",
    `form-action ${hasForms ? "'self'" : "'none'"}`,
    "frame-ancestors 'none'",
  ].join('; ');
}

function sourceHash(content: string): string {
  return `'sha256-${createHash('sha256').update(content).digest('base64')}'`;
}

/** A seller's colour as `#rrggbb` in lower case, or the colour of pages without one. */
export function pageAccent(accent: string): string {
  return /^#[0-9a-f]{6}$/i.test(accent) ? accent.toLowerCase() : '#1f4e79';
}

/** Colours of both schemes that every page uses; `card` is the ground of text. */
export const pageColors = {
  light: { ink: '#1b2430', soft: '#5c6773', rule: '#d9dee5', page: '#f4f6f8', card: '#ffffff' },
  dark: { ink: '#e7ebf0', soft: '#a3adb9', rule: '#343d48', page: '#12161b', card: '#1a2027' },
} as const;

type Scheme = keyof typeof pageColors;

/** Declarations of a scheme's colours as custom properties. */
export function colorDeclarations(scheme: Scheme): string {
  return Object.entries(pageColors[scheme])
    .map(([name, value]) => `--${name}:${value}`)
    .join(';');
}

/** Rules every page begins with. */
export const baseRules = `
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Helvetica Neue",Arial,"Noto Naskh Arabic","Noto Sans Hebrew","Noto Sans CJK SC",sans-serif}
p,h1,h2,h3,dl,dd,table{margin:0}`;
