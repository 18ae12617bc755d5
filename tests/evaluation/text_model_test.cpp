// SPDX-License-Identifier: Apache-2.0
// A model of text, from its manifest to its accuracy: the tokenizer is a file of the model, ids and
// mask are two inputs. Its right answers are known by hand.
#include <catch2/catch.hpp>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"
#include "d5/evaluation/run/evaluate.hpp"
#include "d5/evaluation/run/evaluation_lock.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "tests/cache_folder.hpp"
#include "tests/level2_training/tokenizer/has_icu.hpp"
#include "tests/level2_training/tokenizer/toy_tokenizer.hpp"
#include "tests/temporary_folder.hpp"

namespace d5 {
namespace {

/// Decides whether a text has more of the word "no" or of the letter "y": the scores are sums of a
/// table's rows over the tokens that the mask leaves. Padding, id 0, counts for class 0, and much.
class ToyText {
 public:
  ToyText() {
    write_file(folder_ / "tokenizer.json", testing::toy_file({{"n", "o"}}).dump());
    save_network();
    const std::vector<std::pair<std::string, int>> texts{
        {"no", 0}, {"y", 1}, {"no no y", 0}, {"yes, yes, no", 1}, {"n o y", 1}};
    std::string samples;
    for (const auto& [text, label] : texts) {
      const std::string name = "t" + std::to_string(samples.size()) + ".txt";
      write_file(folder_ / name, text);
      samples += "- {file: " + name + ", label: " + std::to_string(label) +
                 ", bytes: " + std::to_string(text.size()) + ", sha256: " + detail::sha256(text) +
                 "}\n";
    }
    write_file(folder_ / "texts.yaml",
               "kind: dataset\nname: texts\nversion: 1.0.0-dev\ntask: words\nlicence: "
               "CC0-1.0\nmodality: text\nfolder: .\nsamples:\n" +
                   samples);
    write_model();
  }

  [[nodiscard]] std::string operator/(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] EvaluationManifest evaluation() const {
    EvaluationManifest manifest;
    manifest.name = "text";
    manifest.version = "1.0.0-dev";
    manifest.models = {folder_ / "toy.yaml"};
    manifest.frameworks = {"reference"};
    return manifest;
  }
  [[nodiscard]] Measurement accuracy() const {
    return evaluate(evaluation(), {}).measurements.at(0);
  }
  void write_model(const std::string& from = "", const std::string& to = "") const {
    std::string text =
        "kind: model\nname: toy\nversion: 1.0.0-dev\ntask: words\nlicence: CC0-1.0\nassets:\n" +
        asset("toy.onnx") + asset("tokenizer.json") +
        "inputs:\n- {name: ids, field: text, modality: text, type: int64, shape: [16], steps: "
        "[{name: tokenize, file: 'asset:tokenizer.json', length: 16}]}\n"
        "- {name: mask, field: text, modality: text, type: int64, shape: [16], steps: [{name: "
        "tokenize, file: 'asset:tokenizer.json', length: 16, gives: mask}]}\n"
        "outputs:\n- name: scores\nanswer:\n- {name: top_k, k: 1}\naccuracy:\n- {dataset: '" +
        (folder_ / "texts.yaml") + "', measure: top1, value: 1, source: by construction}\n";
    if (!from.empty()) text.replace(text.find(from), from.size(), to);
    write_file(folder_ / "toy.yaml", text);
  }

 private:
  [[nodiscard]] std::string asset(const std::string& name) const {
    const std::string content = read_file(folder_ / name);
    return "- {name: " + name + ", bytes: " + std::to_string(content.size()) +
           ", sha256: " + detail::sha256(content) + ", urls: 'file://" + (folder_ / name) + "'}\n";
  }
  void save_network() const {
    constexpr std::int64_t kTokens = 257;
    Tensor table = Tensor::zeros(DType::float32, {kTokens, 2});
    auto* row = table.data<float>();
    row[0] = 10;       // padding
    row[2 * 256] = 1;  // "no"
    row[2 * int('y') + 1] = 1;
    Network network("toy");
    network.add_input("ids", DType::int64, {"N", 16});
    network.add_input("mask", DType::int64, {"N", 16});
    network.add_constant("table", table);
    network.add_constant("last", Tensor::vector(std::vector<std::int64_t>{2}));
    network.add_constant("tokens", Tensor::vector(std::vector<std::int64_t>{1}));
    network.add_node("Gather", {"table", "ids"}, {"rows"});
    network.add_node("Cast", {"mask"}, {"kept"}, {{"to", std::int64_t{1}}});
    network.add_node("Unsqueeze", {"kept", "last"}, {"column"});
    network.add_node("Mul", {"rows", "column"}, {"left"});
    network.add_node("ReduceSum", {"left", "tokens"}, {"scores"}, {{"keepdims", std::int64_t{0}}});
    network.add_output("scores");
    network.save(folder_ / "toy.onnx");
  }

  testing::OwnCacheFolder cache_;
  testing::TemporaryFolder folder_;
};

TEST_CASE("a model of text is judged with the tokenizer among its files") {
  if (!testing::has_icu()) return;
  const ToyText toy;
  CHECK(lint_manifest(read_file(toy / "toy.yaml"), toy / "toy.yaml").empty());
  const Measurement right = toy.accuracy();
  CHECK(right.status == Status::passed);
  CHECK(right.samples == std::vector<double>(5, 1));
  // Without the mask, padding decides.
  toy.write_model(", gives: mask", "");
  CHECK(toy.accuracy().status == Status::failed);
}

TEST_CASE("a manifest of another machine may ask for the model's files, for no others") {
  const ToyText toy;
  const auto faults = [&] {  // the addresses are ones that others have, too
    std::string text = read_file(toy / "toy.yaml");
    text = std::regex_replace(text, std::regex("'file://[^']*'"), "'https://example.org/model'");
    text = std::regex_replace(text, std::regex("dataset: '[^']*'"), "dataset: texts@1.0.0");
    return lint_manifest(text, "toy.yaml", ManifestOrigin::fetched);
  };
  CHECK(faults().empty());
  toy.write_model("'asset:tokenizer.json'", "'asset:../tokenizer.json'");
  CHECK_FALSE(faults().empty());
  toy.write_model("'asset:tokenizer.json'", "tokenizer.json");
  CHECK_FALSE(faults().empty());
}

TEST_CASE("a lock holds the tokenizer by the model's assets") {
  if (!testing::has_icu()) return;
  const ToyText toy;
  write_file(toy / "e.lock.json", evaluation_lock(fix_evaluation(toy.evaluation())));
  CHECK_NOTHROW(locked_evaluation(toy / "e.lock.json"));
  write_file(toy / "tokenizer.json", testing::toy_file({{"y", "e"}}).dump());
  CHECK_THROWS_WITH(toy.accuracy(), Catch::Contains("tokenizer.json"));
}

TEST_CASE("an input's step that asks for no file of the model is a fault of the manifest") {
  const ToyText toy;
  toy.write_model("'asset:tokenizer.json', length: 16}", "'asset:tokeniser.json', length: 16}");
  const auto faults = lint_manifest(read_file(toy / "toy.yaml"), toy / "toy.yaml");
  REQUIRE(faults.size() == 1);
  CHECK_THAT(faults[0].what, Catch::Contains("asset 'tokeniser.json' is unknown") &&
                                 Catch::Contains("did you mean tokenizer.json?"));
  toy.write_model("'asset:tokenizer.json', length: 16}", "'asset:tokenizer.json', lenght: 16}");
  const auto misspelt = lint_manifest(read_file(toy / "toy.yaml"), toy / "toy.yaml");
  REQUIRE(misspelt.size() == 1);
  CHECK_THAT(misspelt[0].what, Catch::Contains("step tokenize: option 'lenght' is unknown") &&
                                   Catch::Contains("did you mean length?"));
}

}  // namespace
}  // namespace d5
