// SPDX-License-Identifier: Apache-2.0
// Builds the page: checks the types, bundles, and writes files whose names change with their content.
//
// usage: node build.mjs --out FOLDER [--modules FOLDER/node_modules]
// Exit status 1 if a type is wrong or the page is too large.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';

/** Size limits in bytes after gzip: of all views together, and of what the first one loads. */
const kMostBytes = 300_000;
const kMostFirstBytes = 40_000;

const here = path.dirname(fileURLToPath(import.meta.url));
const { values: options } = parseArgs({ options: { out: { type: 'string' }, modules: { type: 'string' } } });
if (!options.out) throw new Error('--out FOLDER is missing: the folder of the page');
const out = path.resolve(options.out);
const modules = path.resolve(options.modules ?? path.join(here, 'node_modules'));
const esbuild = createRequire(path.join(modules, 'of.cjs'))('esbuild');

function checkTypes() {
  const folder = mkdtempSync(path.join(tmpdir(), 'd5-web-'));
  const settings = {
    extends: path.join(here, 'tsconfig.json'),
    compilerOptions: { paths: { '*': [path.join(modules, '*')] } },
    include: [path.join(here, 'src')],
  };
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(settings));
  const { status } = spawnSync(process.execPath, [path.join(modules, 'typescript/bin/tsc'), '-p', folder], { stdio: 'inherit' });
  rmSync(folder, { recursive: true });
  if (status !== 0) process.exit(1);
}

/** `import views from 'all:views'` is the default exports of src/views/*.ts: a view is one file, and no list names it. */
const everyFileOf = {
  name: 'all',
  setup(build) {
    build.onResolve({ filter: /^all:/ }, ({ path: name }) => ({ path: name.slice(4), namespace: 'all' }));
    build.onLoad({ filter: /.*/, namespace: 'all' }, ({ path: folder }) => {
      const files = readdirSync(path.join(here, 'src', folder)).filter((file) => file.endsWith('.ts')).sort();
      const imports = files.map((file, i) => `import part${i} from './${folder}/${file}';`).join('\n');
      return { contents: `${imports}\nexport default [${files.map((_, i) => `part${i}`).join(', ')}];`, resolveDir: path.join(here, 'src') };
    });
  },
};

async function bundle() {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const { metafile } = await esbuild.build({
    absWorkingDir: here,
    entryPoints: { page: 'src/main.ts', style: 'src/style/page.css' },
    nodePaths: [modules],
    plugins: [everyFileOf],
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    legalComments: 'linked',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    metafile: true,
    outdir: out,
    logLevel: 'warning',
  });
  const outputs = Object.entries(metafile.outputs).map(([file, facts]) => ({ name: path.basename(file), ...facts }));
  const entry = (source) => outputs.find(({ entryPoint }) => entryPoint === source);
  const first = [entry('src/main.ts'), entry('src/style/page.css')];
  // Static imports of the entry are loaded with it.
  for (const { imports } of first) {
    for (const { path: file, kind } of imports) {
      if (kind === 'import-statement') first.push(outputs.find(({ name }) => name === path.basename(file)));
    }
  }
  const page = readFileSync(path.join(here, 'index.html'), 'utf8')
    .replace('{script}', first[0].name)
    .replace('{style}', first[1].name);
  writeFileSync(path.join(out, 'index.html'), page);
  copyFileSync(path.join(here, 'icon.svg'), path.join(out, 'icon.svg'));
  return { outputs, first };
}

/** Writes a compressed copy beside each file, as a server sends it. */
function pack({ outputs, first }) {
  const sizes = new Map();
  for (const { name } of outputs.filter(({ name: file }) => !file.endsWith('.txt'))) {
    const packed = gzipSync(readFileSync(path.join(out, name)), { level: 9 });
    writeFileSync(path.join(out, `${name}.gz`), packed);
    sizes.set(name, packed.length);
  }
  const bytes = (files) => files.reduce((sum, { name }) => sum + (sizes.get(name) ?? 0), 0);
  const told = { all: bytes(outputs), first: bytes(first) };
  console.log(`page: ${Math.ceil(told.all / 1000)} kB after gzip, ${Math.ceil(told.first / 1000)} kB of it for the first view`);
  if (told.all > kMostBytes || told.first > kMostFirstBytes) {
    console.error(`page: the limits are ${kMostBytes / 1000} kB in all, and ${kMostFirstBytes / 1000} kB for the first view`);
    process.exit(1);
  }
}

checkTypes();
pack(await bundle());
