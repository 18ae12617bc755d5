// SPDX-License-Identifier: Apache-2.0
// A catalogue of one model, which tells red, green and blue pictures apart, and of twelve pictures: its answers can be found
// by hand. As tests/evaluation/toy_evaluation.hpp.
import { createHash } from 'node:crypto';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { crc32, deflateSync } from 'node:zlib';

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

function png(colour, width, height) {
  const rows = Buffer.alloc(height * (1 + 3 * width));
  for (let y = 0; y < height; ++y) for (let x = 0; x < width; ++x) for (let c = 0; c < 3; ++c) rows[y * (1 + 3 * width) + 1 + 3 * x + c] = c === colour ? 200 : 30 + 10 * c;
  const chunk = (type, content) => {
    const body = Buffer.concat([Buffer.from(type), content]);
    const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(content.length);
    check.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, check]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width);
  head.writeUInt32BE(height, 4);
  head.set([8, 2], 8); // 8 bits of RGB
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]);
}

/** Protocol Buffers: a number, or bytes with their length. */
const field = (number, value) => {
  if (typeof value === 'number') return Buffer.from([number << 3, value]);
  const bytes = Buffer.concat([value].flat().map((part) => Buffer.from(part)));
  const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 127) | 128, bytes.length >> 7];
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), bytes]);
};

/** An ONNX file: the mean of each channel of N x 3 x 16 x 16. */
function network() {
  const node = (type, input, output) => field(1, [field(1, input), field(2, output), field(4, type)]);
  const value = (number, name, dims) => field(number, [field(1, name), field(2, field(1, [field(1, 1), field(2, dims.map((dim) => field(1, typeof dim === 'number' ? field(1, dim) : field(2, dim))))]))]);
  const graph = [node('GlobalAveragePool', 'image', 'pooled'), node('Flatten', 'pooled', 'means'), field(2, 'toy'), value(11, 'image', ['N', 3, 16, 16]), value(12, 'means', ['N', 3])];
  return Buffer.concat([field(1, 8), field(7, graph), field(8, field(2, 13))]);
}

/** Writes it below `folder`; `page`: where the page was built. The environment in which d5 finds it. */
// The address is never asked: the store has the file by its digest.
export function makeToy(folder, page) {
  for (const name of ['share/data/models', 'share/data/datasets', 'data/colours', 'cache']) mkdirSync(path.join(folder, name), { recursive: true });
  symlinkSync(page, path.join(folder, 'share/web'));
  const samples = Array.from({ length: 12 }, (_, i) => {
    const [file, bytes] = [`p${String.fromCharCode(97 + i)}.png`, png(i % 3, 17 + i, 20 + i)];
    writeFileSync(path.join(folder, 'data/colours', file), bytes);
    return `- {file: ${file}, label: ${i % 3}, bytes: ${bytes.length}, sha256: ${sha256(bytes)}}\n`;
  });
  writeFileSync(path.join(folder, 'share/data/datasets/colours.yaml'), `kind: dataset\nname: colours\nversion: 1.0.0-dev\ntask: colours\nlicence: CC0-1.0\nfolder: colours\nlabels: [red, green, blue]\nsamples:\n${samples.join('')}`);
  const onnx = network();
  writeFileSync(path.join(folder, 'toy.onnx'), onnx);
  writeFileSync(
    path.join(folder, 'share/data/models/toy.yaml'),
    `kind: model
name: toy
version: 1.0.0-dev
task: colours
licence: CC0-1.0
assets:
- {name: toy.onnx, bytes: ${onnx.length}, sha256: ${sha256(onnx)}, urls: 'https://models.invalid/toy.onnx'}
inputs:
- name: image
  shape: [3, 16, 16]
  steps:
  - decode
  - {name: resize, height: 16, width: 16}
  - {name: normalise, values: bytes, mean: 127, deviation: 128}
outputs:
- name: means
answer:
- {name: top_k, k: 2}
accuracy:
- {dataset: colours@1.0.0-dev, measure: top1, value: 1, source: by construction}
`,
  );
  return { ...process.env, D5_SHARE_DIR: path.join(folder, 'share'), D5_DATA_DIR: path.join(folder, 'data'), D5_CACHE_DIR: path.join(folder, 'cache') };
}
