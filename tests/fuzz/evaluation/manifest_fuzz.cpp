// SPDX-License-Identifier: Apache-2.0
// Manifests of models, data sets and evaluations: linted and read as what they say they are, from
// here and from elsewhere. What is read says the same when its canonical form is read.
#include <algorithm>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/evaluation/manifest/dataset_manifest.hpp"
#include "d5/evaluation/manifest/evaluation_manifest.hpp"
#include "d5/evaluation/manifest/framework_manifest.hpp"
#include "d5/evaluation/manifest/generator_manifest.hpp"
#include "d5/evaluation/manifest/manifest.hpp"
#include "d5/evaluation/manifest/model_manifest.hpp"
#include "d5/evaluation/manifest/system_manifest.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/mutation.hpp"

namespace d5::fuzz {
namespace {

constexpr const char* kEvaluation = R"(kind: evaluation
name: e
version: 1.0.0-rc.1+b
models: [efficientnet-lite0, centerface@1.0.0]
frameworks: ['null', torch+reference, 'onnxruntime:session', 'sleep:seconds=0.01']
scenarios: [single_stream, {name: poisson, rate: 10}]
batches: [1, 8]
)";
constexpr const char* kFramework = R"(kind: framework
name: f
version: 2.0.0
word: onnxruntime:session
requires: '>=2.4 <3'
options: {a: b}
)";
constexpr const char* kSystem = R"(kind: system
name: s
version: 1.0.0
architecture: x86_64
cores: 8
memory_bytes: 16000000000
price_per_hour: 1.5
instruction_sets: [avx2, avx512f]
labels: {rack: a1}
)";

const std::vector<std::string>& sound() {
  static const std::vector<std::string> manifests = [] {
    std::vector<std::string> all{kEvaluation, kFramework, kSystem};
    for (const char* name :
         {"models/centerface", "models/efficientnet-lite0", "generators/smollm2"}) {
      all.push_back(read_file(D5_SOURCE_DIR "/data/" + std::string(name) + ".yaml"));
    }
    // A few of the two hundred samples suffice.
    const std::string dataset = read_file(D5_SOURCE_DIR "/data/datasets/imagenet-sample.yaml");
    all.push_back(dataset.substr(0, dataset.find("- {file: n01614925")));
    return all;
  }();
  return manifests;
}

/// A copy with one line removed, repeated, indented differently or moved.
std::string with_other_lines(const std::string& text, RandomStream& random) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    lines.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  std::string& line = lines[std::size_t(random.below(lines.size()))];
  switch (random.below(4)) {
    case 0:
      line.clear();
      break;
    case 1:
      line += line;
      break;
    case 2:
      line.insert(0, "  ");
      break;
    default:
      std::swap(line, lines[std::size_t(random.below(lines.size()))]);
  }
  std::string result;
  for (const auto& one : lines) result += one;
  return result;
}

template <class Manifest>
std::string read_as(const std::string& text, ManifestOrigin origin) {
  const auto manifest = parse_manifest<Manifest>(text, "case.yaml", origin);
  const std::string canonical = canonical_json(manifest);
  const auto again = parse_manifest<Manifest>(canonical, "again.json", origin);
  return canonical_json(again) == canonical ? "" : "its canonical form reads back otherwise";
}

std::string read_as(const std::string& kind, const std::string& text, ManifestOrigin origin) {
  if (kind == "model") return read_as<ModelManifest>(text, origin);
  if (kind == "dataset") return read_as<DatasetManifest>(text, origin);
  if (kind == "framework") return read_as<FrameworkManifest>(text, origin);
  if (kind == "generator") return read_as<GeneratorManifest>(text, origin);
  if (kind == "system") return read_as<SystemManifest>(text, origin);
  return read_as<EvaluationManifest>(text, origin);
}

}  // namespace

std::string name() { return "manifest"; }

void prepare() { (void)sound(); }

std::string make_case(RandomStream& random) {
  std::string text = pick(random, sound());
  for (auto changes = random.below(4); changes > 0; --changes) {
    switch (random.below(4)) {
      case 0:
        text = with_damage(text, random);
        break;
      case 1:
        text = with_other_number(text, random);
        break;
      default:
        text = with_other_lines(text, random);
    }
  }
  return text;
}

std::string run_case(const std::string& text) {
  const std::string kind = manifest_kind_of(text, "case.yaml");
  for (const auto origin : {ManifestOrigin::own, ManifestOrigin::fetched}) {
    const bool sound = lint_manifest(text, "case.yaml", origin).empty();
    bool is_read = true;
    try {
      if (std::string wrong = read_as(kind, text, origin); !wrong.empty()) return wrong;
    } catch (const Error&) {
      is_read = false;
    }
    if (sound != is_read) return "it is linted otherwise than it is read";
  }
  return {};
}

}  // namespace d5::fuzz
