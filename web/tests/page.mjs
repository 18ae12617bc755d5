// SPDX-License-Identifier: Apache-2.0
// What the page's tests share: where things are, a browser, parts of the page by themselves.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
export const modules = process.env.D5_PAGE_MODULES ?? path.join(here, '../node_modules');
export const page = process.env.D5_PAGE ?? path.join(here, '../../build/release/share/d5/web');
export const required = createRequire(path.join(modules, 'of.cjs'));

/** The path of a Chromium; undefined if there is none. */
export const chromium = [process.env.D5_CHROMIUM, '/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((file) => file && existsSync(file));

/** The exports of a file of src/, for Node. */
export async function partOf(file) {
  const { outputFiles } = await required('esbuild').build({ entryPoints: [path.join(here, '../src', file)], bundle: true, format: 'esm', write: false, nodePaths: [modules], external: ['echarts'], logLevel: 'error' });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}

export async function browser() {
  return required('playwright-core').chromium.launch({ executablePath: chromium, args: ['--no-sandbox', '--disable-gpu'] });
}
