// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/manifest.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/manifest/dataset_manifest.hpp"
#include "d5/evaluation/manifest/evaluation_manifest.hpp"
#include "d5/evaluation/manifest/framework_manifest.hpp"
#include "d5/evaluation/manifest/model_manifest.hpp"
#include "d5/evaluation/manifest/system_manifest.hpp"

namespace d5 {
namespace {

const std::string kModel = R"(kind: model
name: small
version: 1.0.0
task: image classification
licence: Apache-2.0
assets:
- name: small.onnx
  bytes: 12
  sha256: 44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a
  urls: https://example.org/small.onnx
inputs:
- name: image
  shape: [3, 224, 224]
  steps:
  - decode
  - {name: resize, size: 256}
outputs:
- name: logits
answer:
- {name: top_k, k: 5}
accuracy:
- {dataset: photos@1.0.0, measure: top1, value: 0.9, tolerance: 0.02, source: its paper}
)";

std::string with(std::string text, const std::string& from, const std::string& to) {
  const auto place = text.find(from);
  REQUIRE(place != std::string::npos);
  return text.replace(place, from.size(), to);
}

/// "LINE:COLUMN: WHAT" of all faults.
std::string faults_of(const std::string& text, ManifestOrigin origin = ManifestOrigin::own) {
  std::string all;
  for (const auto& fault : lint_manifest(text, "m.yaml", origin)) {
    all += to_string(fault, "m.yaml") + "\n";
  }
  return all;
}

TEST_CASE("a model's manifest says what it says") {
  CHECK(faults_of(kModel) == "");
  const auto model = parse_manifest<ModelManifest>(kModel, "m.yaml");
  CHECK(model.reference() == "small@1.0.0");
  REQUIRE(model.inputs.size() == 1);
  CHECK(model.inputs[0].shape == std::vector<std::int64_t>{3, 224, 224});
  REQUIRE(model.inputs[0].steps.size() == 2);
  CHECK(model.inputs[0].steps[1].name == "resize");
  CHECK(model.inputs[0].steps[1].settings.integer("size", 0) == 256);
  CHECK(model.inputs[0].type == "float32");
  REQUIRE(model.assets.size() == 1);
  CHECK(model.assets[0].urls == std::vector<std::string>{"https://example.org/small.onnx"});
  CHECK(model.accuracy.at(0).tolerance == 0.02);
}

TEST_CASE("a fault is reported with its place and the nearest word") {
  using Catch::Contains;
  CHECK_THAT(faults_of(with(kModel, "licence:", "license:")),
             Contains("m.yaml:1:1: 'licence' is missing") &&
                 Contains("m.yaml:5:1: no key 'license' here; did you mean 'licence'?"));
  CHECK_THAT(faults_of(with(kModel, "- decode", "- decod")),
             Contains("m.yaml:15:5:") && Contains("'decod'") && Contains("decode"));
  CHECK_THAT(faults_of(with(kModel, "size: 256", "sise: 256")),
             Contains("m.yaml:16:5:") && Contains("'sise'") && Contains("size"));
  CHECK_THAT(faults_of(with(kModel, "size: 256", "size: many")),
             Contains("m.yaml:16:5:") && Contains("many"));
  CHECK_THAT(faults_of(with(kModel, "bytes: 12", "bytes: twelve")),
             Contains("m.yaml:8:3: bytes: 'twelve' is not an integer"));
  CHECK_THAT(faults_of(with(kModel, "bytes: 12", "bytes: -1")), Contains("m.yaml:8:3:"));
  CHECK_THAT(faults_of(with(kModel, "measure: top1", "measure: topp1")),
             Contains("m.yaml:22:27:") && Contains("did you mean 'top1'?"));
  CHECK_THAT(faults_of(with(kModel, "kind: model", "kind: modle")),
             Contains("m.yaml:1:1:") && Contains("did you mean 'model'?"));
  CHECK_THAT(faults_of(with(kModel, "name: logits", "name: [logits]")),
             Contains("m.yaml:18:3: 'name' is a list, expected a text"));
  CHECK_THAT(faults_of(with(kModel, "shape: [3, 224, 224]", "shape: {a: 1}")),
             Contains("m.yaml:13:3:"));
  CHECK_THAT(faults_of(with(kModel, "inputs:\n- name: image\n", "inputs:\n- 3\n- name: image\n")),
             Contains("m.yaml:12:3: 'inputs' has '3' in its list"));
}

TEST_CASE("a name stands once in its list") {
  using Catch::Contains;
  CHECK_THAT(faults_of(with(kModel, "outputs:\n", "outputs:\n- name: logits\n")),
             Contains("m.yaml:19:3: 'outputs' has 'logits' twice"));
  CHECK_THAT(faults_of(with(kModel, "inputs:\n", "inputs:\n- name: image\n")),
             Contains("m.yaml:13:3: 'inputs' has 'image' twice"));
}

TEST_CASE("all faults are reported at once, in the order of the file") {
  std::string text = with(kModel, "licence:", "license:");
  text = with(text, "bytes: 12", "bytes: x");
  text = with(text, "top1", "top2");
  const auto faults = lint_manifest(text, "m.yaml");
  REQUIRE(faults.size() == 4);
  CHECK(std::ranges::is_sorted(faults, {}, &ManifestFault::line));
  CHECK_THROWS_AS(parse_manifest<ModelManifest>(text, "m.yaml"), FormatError);
}

TEST_CASE("versions and digests that cannot be are refused") {
  using Catch::Contains;
  const std::string version = GENERATE(as<std::string>{}, "1.0", "one", "1.0.0.0", "01.0.0", "''");
  CHECK_THAT(faults_of(with(kModel, "version: 1.0.0", "version: " + version)),
             Contains("m.yaml:3:1:"));
  const std::string range = GENERATE(as<std::string>{}, ">=3 <2", "2.4", ">=x");
  CHECK_THAT(faults_of(kModel + "frameworks: {torch: '" + range + "'}\n"),
             Contains("frameworks.torch"));
  CHECK_THAT(faults_of(with(kModel, "44136f", "44136F")), Contains("m.yaml:9:3:"));
  CHECK_THAT(faults_of(with(kModel, "44136f", "4413")), Contains("m.yaml:9:3:"));
}

TEST_CASE("what YAML can hide is refused") {
  CHECK_THROWS_WITH(lint_manifest("a: &a [1]\nb: [*a, *a]\n", "m.yaml"),
                    Catch::Contains("m.yaml:1:4: anchors"));
  CHECK_THROWS_WITH(lint_manifest("kind: model\nname: a\nname: b\n", "m.yaml"),
                    Catch::Contains("m.yaml:3:1: key 'name' is given twice"));
  CHECK_THROWS_WITH(lint_manifest("kind: !!python/object model\n", "m.yaml"),
                    Catch::Contains("tags"));
  CHECK_THROWS_AS(lint_manifest(std::string(1000, '['), "m.yaml"), FormatError);
  CHECK_THROWS_AS(lint_manifest("kind: model\n---\nkind: model\n", "m.yaml"), FormatError);
  CHECK_THAT(faults_of("- 1\n"), Catch::Contains("m.yaml:1:1: a manifest is a map"));
  CHECK_THAT(faults_of("name: x\n"), Catch::Contains("'kind' is missing"));
  std::string many = "kind: dataset\n";
  for (int i = 0; i < 50'000; ++i) many += "k" + std::to_string(i) + ": 1\n";
  CHECK(lint_manifest(many, "m.yaml").size() <= 100);
}

TEST_CASE("a fetched manifest names no code and no place of this machine") {
  using Catch::Contains;
  const auto fetched = ManifestOrigin::fetched;
  CHECK(faults_of(kModel, fetched) == "");
  const std::string local = with(kModel, "https://example.org/small.onnx", "file:///etc/passwd");
  CHECK(faults_of(local) == "");
  CHECK_THAT(faults_of(local, fetched), Contains("m.yaml:10:3:") && Contains("this machine"));
  CHECK_THAT(faults_of(with(kModel, "https://example.org", "File://example.org"), fetched),
             Contains("m.yaml:10:3:"));
  const std::string framework =
      "kind: framework\nname: mine\nversion: 1.0.0\nword: mine\nplugin: ./mine.so\n";
  CHECK(faults_of(framework) == "");
  CHECK_THAT(faults_of(framework, fetched), Contains("m.yaml:5:1: 'plugin'"));
  const std::string evaluation =
      "kind: evaluation\nname: e\nversion: 1.0.0\nmodels: [small, /etc/m.yaml]\n";
  CHECK(faults_of(evaluation) == "");
  CHECK_THAT(faults_of(evaluation, fetched), Contains("m.yaml:4:17: 'models'"));
  const std::string recording =
      "kind: evaluation\nname: e\nversion: 1.0.0\nmodels: small\nscenarios:\n- {name: recorded, "
      "file: "
      "secrets}\n";
  CHECK_THAT(faults_of(recording, fetched), Contains("m.yaml:6:3: 'file'"));
  const std::string escape =
      "kind: dataset\nname: d\nversion: 1.0.0\ntask: t\nlicence: l\nsamples:\n- {file: a/../../b, "
      "bytes: 1, sha256: 44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a}\n";
  CHECK_THAT(faults_of(escape), Contains("m.yaml:7:4: file: 'a/../../b'"));
}

TEST_CASE("the canonical form says a default the same whether it was written or not") {
  const auto model = parse_manifest<ModelManifest>(kModel, "m.yaml");
  const auto other = parse_manifest<ModelManifest>(
      with(with(kModel, "outputs:\n- name: logits", "outputs:\n- {type: float32, name: logits}"),
           "  shape: [3, 224, 224]\n", "  shape: [ 3,224 , 224 ]\n  field: image\n"),
      "n.yaml");
  CHECK(canonical_json(model) == canonical_json(other));
  CHECK(digest_of(model) == digest_of(other));
  const auto changed =
      parse_manifest<ModelManifest>(with(kModel, "size: 256", "size: 255"), "m.yaml");
  CHECK(digest_of(model) != digest_of(changed));
  // It is read back as the same: JSON is YAML.
  const auto again = parse_manifest<ModelManifest>(canonical_json(model), "m.json");
  CHECK(canonical_json(again) == canonical_json(model));
}

TEST_CASE("the canonical form keeps a required field, even 0 bytes") {
  const auto model = parse_manifest<ModelManifest>(with(kModel, "bytes: 12", "bytes: 0"), "m.yaml");
  const auto again = parse_manifest<ModelManifest>(canonical_json(model), "m.json");
  CHECK(again.assets.at(0).bytes == 0);
}

TEST_CASE("a model without a network file has no inputs and outputs either") {
  const std::string text =
      "kind: model\nname: small\nversion: 1.0.0\ntask: text generation\nlicence: Apache-2.0\n";
  CHECK(faults_of(text + "format: none\n") == "");
  CHECK_FALSE(parse_manifest<ModelManifest>(text + "format: none\n", "m.yaml").has_network());
  const std::string missing = faults_of(text);
  for (const char* what : {"assets", "inputs", "outputs"}) {
    CHECK_THAT(missing, Catch::Contains(std::string("'") + what + "' is missing"));
  }
  CHECK_THAT(faults_of(text + "format: none\ninputs: [{name: x}]\n"),
             Catch::Contains("format: none, expected no 'inputs'"));
}

TEST_CASE("every kind has a schema, which names its fields") {
  for (const std::string kind :
       {"model", "dataset", "framework", "system", "evaluation", "generator"}) {
    const std::string schema = manifest_schema(kind);
    CHECK_THAT(schema, Catch::Contains("\"version\"") && Catch::Contains("json-schema.org"));
  }
  CHECK_THROWS_AS(manifest_schema("modle"), NotFound);
}

}  // namespace
}  // namespace d5
