import { baseRules, colorDeclarations, pageAccent } from '../html-page.ts';

/** The style of the page in one colour of the seller's; light, dark, small and on paper. Takes `#rrggbb` only. */
export function styleOf(accent: string): string {
  return `:root{--accent:${pageAccent(accent)}}${rules}`;
}

const rules = `
:root{color-scheme:light dark;${colorDeclarations('light')};--tint:color-mix(in srgb,var(--accent) 8%,#fff);--warn:#8a5a00;--warn-tint:#fff6e0}
@media (prefers-color-scheme:dark){:root{${colorDeclarations('dark')};--tint:color-mix(in srgb,var(--accent) 30%,#1a2027);--warn:#ffcf70;--warn-tint:#3a2f14}
h1,a{color:color-mix(in srgb,var(--accent) 45%,#fff)!important}.logo{background:#fff;padding:6px;border-radius:4px}}
${baseRules}
main{max-width:60rem;margin:2rem auto;padding:2.5rem;background:var(--card);border:1px solid var(--rule);border-radius:10px}
header,.parties,.line-head{display:flex;justify-content:space-between;gap:1.5rem;align-items:flex-start}
.logo{max-height:3.2rem;max-width:14rem;display:block;margin-bottom:.4rem}
.seller{font-size:1.15rem;font-weight:700}
.soft{color:var(--soft);font-size:.88em}
.number{text-align:end}
h1{font-size:1.7rem;line-height:1.2;color:var(--accent)}
.stamp{display:inline-block;margin-top:.4rem;padding:.1rem .6rem;border:1.5px solid currentColor;border-radius:4px;font-size:.75rem;font-weight:700;letter-spacing:.06em}
.parties{margin:2rem 0 1.5rem}
.label,dt{color:var(--soft);font-size:.8rem}
.name{font-size:1.1rem;font-weight:650}
dl>div{display:flex;justify-content:space-between;gap:2rem}
dd{text-align:end}
.headline{display:flex;justify-content:space-between;align-items:baseline;gap:1rem;padding:.8rem 1.1rem;background:var(--tint);border-radius:6px}
.headline strong{font-size:1.5rem;font-variant-numeric:tabular-nums}
section{margin-top:2rem}
h2{font-size:1.15rem;margin-bottom:.6rem}
h3{font-size:1.02rem}
table{width:100%;border-collapse:collapse}
th,td{padding:.45rem .5rem;text-align:start;vertical-align:top;font-weight:400}
thead th{font-size:.78rem;font-weight:650;color:var(--soft);border-bottom:1.5px solid var(--ink)}
.glance tbody tr{border-bottom:1px solid var(--rule)}
.figure{text-align:end!important;white-space:nowrap;font-variant-numeric:tabular-nums}
a{color:var(--accent);text-decoration:none}
a:hover,a:focus-visible{text-decoration:underline}
.badge{font-size:.72rem;padding:.05rem .45rem;border-radius:99px;color:var(--warn);background:var(--warn-tint);white-space:nowrap}
.totals{margin-top:.9rem}
.totals th{width:13rem}
.totals td:nth-child(2){max-width:26rem}
.sum th,.sum td{font-weight:700;border-top:1.5px solid var(--ink)}
.sum .soft{font-weight:400}
article{margin-top:1rem;padding:1rem 1.1rem;border:1px solid var(--rule);border-radius:8px;break-inside:avoid}
.line-head p{font-size:1.1rem;font-weight:700}
.steps{margin-top:.5rem}
.steps th{width:9.5rem;color:var(--soft);font-size:.86rem;padding-inline-start:0}
.steps tr.step th,.steps tr.step td{border-top:1px solid var(--rule)}
.steps tr.same th,.steps tr.same td{padding-top:.1rem}
.steps td:last-child{padding-inline-end:0}
.steps .sum th{color:var(--ink)}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.late{margin-top:.7rem;padding:.5rem .8rem;border-radius:6px;color:var(--warn);background:var(--warn-tint);font-size:.9rem}
footer{margin-top:2.5rem;padding-top:.8rem;border-top:1px solid var(--rule);color:var(--soft);font-size:.8rem}
@media (max-width:40rem){main{margin:0;padding:1.2rem;border:0;border-radius:0}header,.parties{flex-direction:column}.number{text-align:start}.glance td:nth-child(2),.glance th:nth-child(2){display:none}.totals th{width:auto}.steps th{width:6.5rem}}
@media print{:root{color-scheme:light;${colorDeclarations('light')};--page:#fff;--tint:#f3f5f8;--warn:#8a5a00;--warn-tint:#fff}
h1,a{color:var(--accent)!important}body{font-size:10.5pt}main{max-width:none;margin:0;padding:0;border:0}.late{border:1px solid var(--warn)}a{text-decoration:none}h2{break-after:avoid}tr{break-inside:avoid}thead{display:table-header-group}
@page{margin:16mm}}
`;
