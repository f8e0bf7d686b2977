import { existsSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * Takes out of node_modules, after every install, large files that nothing here opens: Temporal's library for other platforms, weights of
 * fonts beside regular and bold, and headers for compiling against Node. They come with packages that hold what is needed. JavaScript,
 * because it runs on whatever Node installs. `node dev/lean.js [node_modules]`. A file that is not found is left alone, and an install never fails for it.
 */

/**
 * @param {string} modules a node_modules directory
 * @returns {string[]} what is superfluous in it: paths that exist
 */
function superfluousIn(modules) {
  const inside = (/** @type {string} */ ...path) => join(modules, ...path);
  const entries = (/** @type {string} */ path) =>
    existsSync(path) ? readdirSync(path).map((name) => join(path, name)) : [];
  const releases = entries(inside('@temporalio/core-bridge/releases'));
  const own = releases.filter((path) => path.endsWith(ownRelease(modules)));
  const fonts = entries(inside('@embedpdf')).flatMap((path) => entries(join(path, 'fonts')));
  const headers = entries(inside('node/node_modules')).map((path) => join(path, 'include'));
  return [
    ...(own.length > 0 ? releases.filter((path) => !own.includes(path)) : []),
    ...fonts.filter((path) => /\.(ttf|otf)$/.test(path) && !/-(Regular|Bold)\.\w+$/.test(path)),
    ...headers.filter(existsSync),
  ];
}

/** The directory of this platform's library, as the package itself names it; a name that no directory has when it cannot tell. */
function ownRelease(/** @type {string} */ modules) {
  try {
    const package_ = createRequire(join(modules, 'x.js'))('@temporalio/core-bridge/common');
    return package_.getPrebuiltTargetName();
  } catch {
    return '\0';
  }
}

try {
  const modules = process.argv[2] ?? fileURLToPath(new URL('../node_modules', import.meta.url));
  for (const path of superfluousIn(modules)) rmSync(path, { recursive: true, force: true });
} catch (error) {
  console.error(`node_modules is as large as it came: ${error}`);
}
