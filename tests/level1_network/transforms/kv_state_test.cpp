// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime judges: it runs the exported decoder on whole texts.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level1_network/plan/planned_updates.hpp"
#include "d5/level1_network/source/models.hpp"
#include "tests/level1_network/exported_decoders.hpp"

using namespace d5;
using test::exported_decoders;
using test::ExportedDecoder;

namespace {

constexpr std::int64_t kSlots = 2, kCapacity = 24;

/// Runs two slots, whose texts are at places of their own, and compares every score.
class Steps {
 public:
  Steps(const ExportedDecoder& decoder, GraphExecutor& executor)
      : decoder_(decoder), executor_(executor) {
    for (const double score : decoder.scores) largest_ = std::max(largest_, std::abs(score));
  }

  /// Reads `count` tokens of the text into each slot, from these rows on.
  void run(std::int64_t first, std::int64_t second, std::int64_t count) {
    const std::int64_t starts[] = {first, second};
    Tensor tokens = Tensor::empty(DType::int64, {kSlots, count});
    Tensor places = Tensor::empty(DType::int64, {kSlots, count, 1});
    for (std::int64_t i = 0; i < kSlots * count; ++i) {
      tokens.data<std::int64_t>()[i] = decoder_.tokens[std::size_t(starts[i / count] + i % count)];
      places.data<std::int64_t>()[i] = i % count;
    }
    const Tensor logits = executor_
                              .inference({{"tokens", tokens},
                                          {"starts", Tensor::vector<std::int64_t>({first, second})},
                                          {"places", places}})
                              .at("logits")
                              .tensor();
    REQUIRE(logits.shape() == Shape{kSlots, count, ExportedDecoder::kVocabulary});
    const float* score = logits.data<float>();
    for (std::int64_t i = 0; i < kSlots * count; ++i) {
      for (std::int64_t k = 0; k < ExportedDecoder::kVocabulary; ++k) {
        const double expected =
            decoder_.score(std::size_t(starts[i / count] + i % count), std::size_t(k));
        difference_ = std::max(difference_, std::abs(double(*score++) - expected));
      }
    }
  }

  /// Largest difference from ONNX Runtime, as a share of the largest score.
  [[nodiscard]] double error() const { return difference_ / largest_; }

 private:
  const ExportedDecoder& decoder_;
  GraphExecutor& executor_;
  double largest_ = 0, difference_ = 0;
};

}  // namespace

TEST_CASE("an exported decoder with its caches as state scores step by step as in one run") {
  for (const ExportedDecoder& decoder : exported_decoders().forms()) {
    CAPTURE(decoder.name);
    const Network network = test::stateful(decoder.file, "slots=2:capacity=24");
    CHECK(network.input_names() == std::vector<std::string>{"tokens", "starts", "places"});
    CHECK(network.output_names() == std::vector<std::string>{"logits"});
    CHECK(network.updates().size() == 4);
    const auto executor = make_executor(network);
    Steps steps(decoder, *executor);
    steps.run(0, 0, 4);
    steps.run(4, 2, 1);  // the second text goes back two tokens
    steps.run(5, 3, 1);
    steps.run(6, 4, 5);
    for (std::int64_t i = 11; i < 20; ++i) steps.run(i, i - 7, 1);
    // Two float32 computations, 2 layers of sums of 64 products: some 30 roundings of the largest.
    CHECK(steps.error() < 30 * double(std::numeric_limits<float>::epsilon()));
    for (const PlannedUpdate& update : planned_updates(*executor)) {
      INFO(update.constant << ": " << update.reason);
      CHECK(update.copied_bytes == 0);
    }
  }
}

TEST_CASE("a run over the whole capacity is a prompt") {
  for (const ExportedDecoder& decoder : exported_decoders().forms()) {
    CAPTURE(decoder.name);
    const auto executor = make_executor(test::stateful(decoder.file, "slots=2:capacity=20"));
    Steps steps(decoder, *executor);
    steps.run(0, 0, 20);
    CHECK(steps.error() < 30 * double(std::numeric_limits<float>::epsilon()));
  }
}

TEST_CASE("a decoder of another form is refused, with the node that differs") {
  for (const auto& [file, words] : exported_decoders().refused()) {
    CAPTURE(file);
    Network network = Network::load(file);
    const auto before = network.serialize();
    std::string message;
    try {
      (void)apply_transforms(network, transform_chain({"kv-state:capacity=24"}));
    } catch (const Unsupported& error) {
      message = error.what();
    }
    for (const std::string& word : words) CHECK_THAT(message, Catch::Contains(word));
    CHECK(network.serialize() == before);
  }
}

TEST_CASE("sizes that the decoder cannot have are refused") {
  for (const ExportedDecoder& decoder : exported_decoders().forms()) {
    if (decoder.name != "grouped") continue;
    CHECK_THROWS_WITH(test::stateful(decoder.file, "capacity=49"),
                      Catch::Contains("rotations for 48 tokens"));
  }
  CHECK_THROWS_AS(transform_chain({"kv-state:slots=0"}), ValueError);
}

TEST_CASE("a network that is no exported decoder stays as it is, and the report says why") {
  Network network = models().at("decoder").make({{"layers", 1}, {"width", 16}});
  const auto revision = network.revision();
  const auto applied = apply_transforms(network, transform_chain({"kv-state"}));
  CHECK(applied.at(0).report.what.empty());
  CHECK_THAT(applied.at(0).report.left.at(0), Catch::Contains("no input is a cache"));
  CHECK(network.revision() == revision);
}
