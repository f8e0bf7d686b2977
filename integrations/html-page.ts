import { createHash } from 'node:crypto';

/** A self-contained page, and the policy under which a browser shows it. */
export interface RenderedPage {
  html: string;
  contentSecurityPolicy: string;
}

/**
 * Policy of a page that loads nothing: its own style, pictures inside the page and, where it has one, its own script, which may ask
 * the page's server. `style` and `script` are the exact contents of the page's elements. Forms go to the page's server or nowhere.
 */
export function pagePolicy({ style, script, hasForms }: { style: string; script?: string; hasForms: boolean }): string {
  return [
    "default-src 'none'",
    `style-src ${sourceHash(style)}`,
    ...(script === undefined ? [] : [`script-src ${sourceHash(script)}`, "connect-src 'self'"]),
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
