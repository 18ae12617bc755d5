// SPDX-License-Identifier: Apache-2.0
// Alphabets and words of classes in files beside a model's network.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/evaluation/database/evaluation_sink.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"
#include "d5/evaluation/pipeline/answer_step.hpp"
#include "d5/evaluation/run/evaluate.hpp"
#include "tests/evaluation/toy_evaluation.hpp"

namespace d5 {
namespace {

using testing::ToyEvaluation;

/// The labels of each sample's answer, best first.
struct Labels final : EvaluationSink {
  std::vector<std::vector<std::string>> all;
  void evaluation(const EvaluationRun&) override {}
  void measurements(const std::string&, const std::string&, std::span<const Measurement>) override {
  }
  void queries(const std::string&, const std::string&, std::span<const QueryRecord>) override {}
  void trace(const std::string&, const std::string&, const Timeline&) override {}
  void answers(const std::string&, const std::string&,
               std::span<const SampleAnswer> answers) override {
    for (const SampleAnswer& one : answers) {
      const auto answer = nlohmann::json::parse(one.answer, nullptr, /*allow_exceptions=*/false);
      all.push_back(answer.value("labels", std::vector<std::string>()));
    }
  }
};

/// The manifest with words of the classes in a file; `asked` is the asset that a step asks for.
void write_words(const ToyEvaluation& toy, const std::string& words, const std::string& asked) {
  write_file(toy / "words.txt", words);
  toy.write_model("- {name: top_k, k: 2}\n",
                  "- {name: top_k, k: 2}\n- {name: labels, words: 'asset:" + asked + "'}\n");
  std::string text = read_file(toy.model());
  text.insert(text.find("inputs:"), "- {name: words.txt, bytes: " + std::to_string(words.size()) +
                                        ", sha256: " + detail::sha256(words) + ", urls: 'file://" +
                                        toy / "words.txt" + "'}\n");
  write_file(toy.model(), text);
}

EvaluationManifest evaluation_of(const ToyEvaluation& toy) {
  EvaluationManifest manifest;
  manifest.name = "labels";
  manifest.version = "1.0.0-dev";
  manifest.models = {toy.model()};
  manifest.frameworks = {"reference"};
  return manifest;
}

TEST_CASE("words in a file of the model stand beside the classes of its answers") {
  const ToyEvaluation toy;
  write_words(toy, "rouge\nvert\nbleu\n", "words.txt");
  CHECK(lint_manifest(read_file(toy.model()), toy.model()).empty());
  Labels labels;
  (void)evaluate(evaluation_of(toy), {.sink = &labels});
  REQUIRE(labels.all.size() == ToyEvaluation::kSamples);
  CHECK(labels.all[0] == std::vector<std::string>{"rouge", "bleu"});  // blue is lighter than green
  CHECK(labels.all[1] == std::vector<std::string>{"vert", "bleu"});
}

TEST_CASE("a file of words with another content is refused") {
  const ToyEvaluation toy;
  write_words(toy, "rouge\nvert\nbleu\n", "words.txt");
  write_file(toy / "words.txt", "rouge\nvert\nblau\n");
  CHECK_THROWS_WITH(evaluate(evaluation_of(toy), {}),
                    Catch::Contains("words.txt") && Catch::Contains("SHA-256 is"));
}

TEST_CASE("a setting that asks for no file of the model is a fault of the manifest") {
  const ToyEvaluation toy;
  write_words(toy, "red\ngreen\nblue\n", "word.txt");
  const auto faults = lint_manifest(read_file(toy.model()), toy.model());
  REQUIRE(faults.size() == 1);
  CHECK_THAT(faults[0].what, Catch::Contains("step labels: words: asset 'word.txt' is unknown") &&
                                 Catch::Contains("did you mean words.txt?"));
}

TEST_CASE("a class without a word is refused") {
  const auto step = answer_steps().at("labels").make({{"words", "a\nb\n"}});
  ValueMap values{{"classes", Tensor::vector(std::vector<std::int64_t>{1, 0})}};
  step->run(values);
  const Tensor& words = values.at("labels").tensor();
  CHECK(words.data<std::string>()[0] == "b");
  CHECK(words.data<std::string>()[1] == "a");
  values["classes"] = Tensor::vector(std::vector<std::int64_t>{2});
  CHECK_THROWS_WITH(step->run(values), Catch::Contains("class 2, expected 0 to 1"));
  values["classes"] = Tensor::vector(std::vector<float>{1});
  CHECK_THROWS_WITH(step->run(values), Catch::Contains("expected int64"));
  ValueMap none{{"x", Tensor::scalar(1.0F)}};
  CHECK_THROWS_AS(step->run(none), NotFound);
}

}  // namespace
}  // namespace d5
