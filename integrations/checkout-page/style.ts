import { baseRules, colorDeclarations, pageAccent, pageColors } from '../html-page.ts';
import { textOn, visibleOn } from './color.ts';

/** Colours that tell how something stands, as text on a card and as the ground behind it. */
export const standingColors = {
  light: {
    good: '#0a6b3d',
    'good-tint': '#e5f5ec',
    bad: '#a3201a',
    'bad-tint': '#fdeceb',
    note: '#7a4f00',
    'note-tint': '#fff3d6',
  },
  dark: {
    good: '#7fdca8',
    'good-tint': '#173527',
    bad: '#ffaea6',
    'bad-tint': '#43201e',
    note: '#ffd27d',
    'note-tint': '#3a2f14',
  },
} as const;

/** The page's style with buttons in the seller's colour, made so that they can be seen and read in both schemes. */
export function styleOf(accent: string): string {
  return `
:root{color-scheme:light dark;${schemeOf('light', accent)}}
@media (prefers-color-scheme:dark){:root{${schemeOf('dark', accent)}}}
${baseRules}${rules}`;
}

function schemeOf(scheme: keyof typeof pageColors, accent: string): string {
  const button = visibleOn(pageAccent(accent), pageColors[scheme].card);
  const standing = Object.entries(standingColors[scheme]).map(([name, value]) => `--${name}:${value}`);
  return [colorDeclarations(scheme), `--button:${button}`, `--on-button:${textOn(button)}`, ...standing].join(';');
}

const rules = `
body{min-height:100vh;display:flex;flex-direction:column;font-size:16px}
.test{padding:.4rem 1rem;text-align:center;font-size:.85rem;font-weight:600;color:var(--note);background:var(--note-tint)}
.brand{max-width:62rem;margin:0 auto;padding:1.25rem 1.25rem 0}
.seller{font-size:1.15rem;font-weight:700}
.logo{display:block;max-height:3rem;max-width:14rem}
main{flex:1;width:100%;max-width:62rem;margin:0 auto;padding:1.25rem;display:grid;gap:1.5rem;align-content:start}
h1{font-size:1.05rem;font-weight:600;line-height:1.35}
h2{font-size:1.15rem;line-height:1.35}
h1:focus,h2:focus,.alert:focus{outline:0}
.soft{color:var(--soft);font-size:.9rem}
.amount{font-size:2.4rem;font-weight:700;line-height:1.25;letter-spacing:-.01em;overflow-wrap:anywhere}
.amount.long{font-size:1.55rem}
.lines{list-style:none;margin:1.25rem 0 0;padding:0}
.lines li,.totals>div{display:flex;justify-content:space-between;gap:1.25rem;padding:.6rem 0;border-top:1px solid var(--rule)}
.lines li>div{min-width:0;overflow-wrap:anywhere}
.lines p:first-child{font-weight:550}
.totals>div{padding:.35rem 0;border:0}
.totals>div:first-child{border-top:1px solid var(--rule);padding-top:.7rem}
.totals dt{min-width:0;overflow-wrap:anywhere;color:var(--soft)}
.figure,.totals dd{white-space:nowrap;font-variant-numeric:tabular-nums;text-align:end}
.totals .due{margin-top:.35rem;padding-top:.7rem;border-top:1px solid var(--rule);font-weight:700}
.due dt{color:inherit}
.renewal{margin-top:.6rem}
details{margin-top:1.25rem;border-top:1px solid var(--rule)}
details .lines{margin:0}
summary{padding:.7rem 0;cursor:pointer;font-weight:550}
.panel{padding:1.5rem;background:var(--card);border:1px solid var(--rule);border-radius:14px;box-shadow:0 1px 2px rgb(0 0 0/.04),0 8px 28px rgb(0 0 0/.06);align-self:start}
.panel>*+*{margin-top:1rem}
form>*+*{margin-top:.75rem}
label{display:block;font-size:.9rem;font-weight:600}
form>label+input{margin-top:.35rem}
form>input+.soft{margin-top:.35rem}
.digits{font-variant-numeric:tabular-nums;letter-spacing:.02em}
#card{width:100%;min-height:3rem;padding:.6rem .85rem;font:inherit;color:inherit;background:var(--card);border:1px solid var(--soft);border-radius:9px}
[dir=rtl] #card{text-align:right}
#card[aria-invalid]{border-color:var(--bad);border-width:2px}
button,a.primary,a.secondary{display:block;width:100%;min-height:3rem;padding:.7rem 1rem;font:inherit;font-weight:600;text-align:center;text-decoration:none;color:inherit;background:none;border:1px solid transparent;border-radius:9px;cursor:pointer}
.primary{color:var(--on-button)!important;background:var(--button)!important}
.secondary{border-color:var(--soft)!important}
.plain{color:var(--soft);font-weight:500}
.primary:hover{filter:brightness(1.08)}
.secondary:hover,.plain:hover,.card:hover{background:var(--page)}
button:disabled{opacity:.6;cursor:default}
:focus-visible{outline:3px solid var(--ink);outline-offset:2px}
fieldset{margin:1.25rem 0 0;padding:0;border:0}
legend{padding:0 0 .4rem;font-size:.85rem;color:var(--soft)}
.card{display:grid;grid-template-columns:minmax(0,1fr) auto;align-items:center;gap:.5rem;padding:.5rem .75rem;text-align:start;font-size:.9rem;font-weight:450;border-color:var(--rule);border-radius:0;border-top-width:0}
.card:first-of-type{border-top-width:1px;border-radius:9px 9px 0 0}
.card:last-of-type{border-radius:0 0 9px 9px}
.card:focus-visible{position:relative;z-index:1}
.card .digits{color:var(--soft);font-size:.95em;letter-spacing:0;white-space:nowrap}
.alert{display:flex;gap:.7rem;padding:.8rem .9rem;border-radius:9px;font-size:.95rem;color:var(--bad);background:var(--bad-tint)}
.icon{flex:none;width:1.5rem;height:1.5rem;fill:none;stroke:currentColor;stroke-width:1.7;stroke-linecap:round;stroke-linejoin:round}
.expiry{text-align:center}
.status{color:var(--soft);text-align:center}
.status:empty{margin:0}
.answers{display:grid;gap:.6rem;grid-template-columns:1fr 1fr}
.answers>*{margin:0}
.bank .icon{width:2.5rem;height:2.5rem;stroke-width:1.2}
.told{justify-items:center;padding-top:2.5rem;padding-bottom:2.5rem}
.told>*{width:100%;max-width:29rem}
.result{text-align:center;text-wrap:balance;padding:2rem 1.5rem}
.result h1{font-size:1.45rem;font-weight:700}
.result .icon{width:3.5rem;height:3.5rem;stroke-width:1.3;color:var(--soft)}
.result.check .icon{color:var(--good)}
.result.check .icon circle{fill:var(--good-tint)}
.result .primary,.result .secondary{margin-top:1.5rem}
.receipt{padding:0 .25rem}
.receipt .lines{margin-top:.6rem}
.spinner{display:inline-block;width:2.75rem;height:2.75rem;border:3px solid var(--rule);border-top-color:var(--ink);border-radius:50%;animation:turn 1s linear infinite}
@keyframes turn{to{transform:rotate(1turn)}}
footer{display:flex;flex-wrap:wrap;justify-content:space-between;gap:.5rem 2rem;width:100%;max-width:62rem;margin:0 auto;padding:1rem 1.25rem 2rem;font-size:.85rem;color:var(--soft)}
footer a{color:inherit;padding:.25rem 0}
nav{display:flex;gap:1.1rem}
[aria-current]{font-weight:700;text-decoration:none}
@media (min-width:52rem){
.brand{padding-top:2rem}
.open{grid-template-columns:minmax(0,1fr) minmax(0,27rem);gap:4rem;padding-top:2.5rem}
.panel{padding:2rem}
}
@media (prefers-reduced-motion:reduce){.spinner{animation:none;border-style:dotted}}
@media (forced-colors:active){.primary,.card{border:1px solid!important}}
@media print{form,footer,.test,a.primary{display:none}.panel{box-shadow:none}}
`;
