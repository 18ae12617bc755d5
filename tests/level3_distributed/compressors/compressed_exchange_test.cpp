// SPDX-License-Identifier: Apache-2.0
// Training by compressed and sparse gradients: LeNet on the digits that d5 carries.
#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/compressors/gradient_compressor.hpp"
#include "d5/level3_distributed/exchange/gradient_exchange.hpp"
#include "d5/level3_distributed/sparse/sparse_all_reduce.hpp"
#include "tests/level3_distributed/compressors/trained_lenet.hpp"

using namespace d5;
using namespace d5::test;

namespace {

Settings compressed_by(const std::string& name, const Settings& options = {}) {
  Settings settings("test", {{"exchange.name", "compressed"},
                             {"exchange.compressor.name", name},
                             {"all_reduce", "ring"}});
  for (const auto& [option, value] : options.values()) {
    settings.set("exchange.compressor." + option, value);
  }
  return settings;
}

Settings without_feedback(Settings settings) {
  settings.set("exchange.error_feedback", "false");
  return settings;
}

Settings sparse_by(const std::string& algorithm, double fraction = 0.1) {
  return {{"exchange.name", "sparse"},
          {"exchange.algorithm", algorithm},
          {"exchange.fraction", fraction},
          {"all_reduce", "ring"}};
}

/// Every compressor and every sparse all-reduce, by name. A majority vote has no feedback.
std::vector<std::pair<std::string, Settings>> all_ways() {
  std::vector<std::pair<std::string, Settings>> ways;
  for (const auto& [name, entry] : gradient_compressors().entries()) {
    const Settings settings = entry.has_option("fraction")
                                  ? compressed_by(name, {{"fraction", 0.1}})
                                  : compressed_by(name);
    ways.emplace_back(name, name == "sign" ? without_feedback(settings) : settings);
  }
  for (const auto& [name, entry] : sparse_all_reduces().entries()) {
    ways.emplace_back(name, sparse_by(name));
  }
  return ways;
}

}  // namespace

TEST_CASE(
    "LeNet learns digits by every compressor and sparse all-reduce, with the same bits on all "
    "ranks") {
  for (const auto& [name, settings] : all_ways()) {
    CAPTURE(name);
    // A vote's steps are the learning rate itself.
    const double rate = name == "sign" ? 0.0002 : 0.05;
    const auto optimizer = lenet_with(settings, "65536", rate, "momentum");
    const auto losses = trained(*optimizer, 6 * kBatches);
    CHECK(same_on_all_ranks(parameters_of(*optimizer)));
    // A guess of one in ten has the loss log(10) = 2.303.
    CHECK(mean_of_all(losses.end() - kBatches, losses.end()) < 2.2);
  }
}

TEST_CASE("all elements, compressed or sparse, train as the dense exchange does") {
  const auto dense = lenet_with(Settings("test", {{"all_reduce", "ring"}}));
  (void)trained(*dense, 4);
  std::vector<std::pair<std::string, Settings>> ways = {
      {"top_k", compressed_by("top_k", {{"fraction", 1}})},
      {"random_k", compressed_by("random_k", {{"fraction", 1}})}};
  for (const auto& [name, entry] : sparse_all_reduces().entries()) {
    ways.emplace_back(name, sparse_by(name, 1));
  }
  for (const auto& [name, settings] : ways) {
    CAPTURE(name);
    const auto optimizer = lenet_with(settings);
    (void)trained(*optimizer, 4);
    const double off = largest_difference(parameters_of(*optimizer), parameters_of(*dense));
    // Sums of two have one order; of more, 4 steps of rate 0.05 round gradients by some 2^-24.
    if (world()->size() <= 2) {
      CHECK(off == 0);
    } else {
      CHECK(off < 1e-6);
    }
  }
}

TEST_CASE("half precision and full rank train as the dense exchange does, within their rounding") {
  const auto dense = lenet_with(Settings("test", {{"all_reduce", "ring"}}));
  (void)trained(*dense, 2);
  // Gradients of LeNet are below 1 here. A step is off by the rate, 0.05, times what rounding takes
  // of them: 2^-11 of each rank's, and of each sum; feedback gives it back in the next.
  const auto half = lenet_with(compressed_by("float16"));
  (void)trained(*half, 2);
  CHECK(largest_difference(parameters_of(*half), parameters_of(*dense)) <
        2 * 0.05 * (world()->size() + 1) * 0x1p-11);
  // P P^T M is M within products of at most 400 terms, each rounded by 2^-24.
  const auto whole = lenet_with(compressed_by("power_sgd", {{"rank", 1000}}));
  (void)trained(*whole, 2);
  CHECK(largest_difference(parameters_of(*whole), parameters_of(*dense)) <
        2 * 0.05 * 400 * 0x1p-24);
}

TEST_CASE("training that goes on from a checkpoint gives the bits of the run that was not cut") {
  for (const auto& [name, settings] : all_ways()) {
    CAPTURE(name);
    const auto whole = lenet_with(settings), cut = lenet_with(settings),
               resumed = lenet_with(settings);
    (void)trained(*whole, 2 * kBatches);
    (void)trained(*cut, kBatches);
    const ValueMap state = cut->state();
    auto& network = cut->executor().network();
    for (Parameter& parameter : resumed->executor().network().parameters()) {
      parameter.value.copy_from(network.parameter(parameter.name).value);
    }
    resumed->restore(state);
    (void)trained(*resumed, kBatches, 1);
    CHECK(parameters_of(*resumed) == parameters_of(*whole));
    // And so does one that had gone elsewhere.
    for (Parameter& parameter : whole->executor().network().parameters()) {
      parameter.value.copy_from(network.parameter(parameter.name).value);
    }
    whole->restore(state);
    (void)trained(*whole, kBatches, 1);
    CHECK(parameters_of(*resumed) == parameters_of(*whole));
  }
}

TEST_CASE("a checkpoint of other buckets, or of none, is refused") {
  const auto big = lenet_with(compressed_by("top_k"), "4194304"),
             small = lenet_with(compressed_by("top_k"), "65536"),
             dense = lenet_with(Settings("test")),
             plain = lenet_with(without_feedback(compressed_by("top_k")));
  for (auto* optimizer : {&big, &small, &dense, &plain}) (void)trained(**optimizer, 1);
  CHECK_THROWS_AS(small->restore(big->state()), ShapeError);
  CHECK_THROWS_WITH(small->restore(dense->state()), Catch::Contains("under another exchange"));
  CHECK_THROWS_WITH(small->restore(plain->state()), Catch::Contains("without error_feedback"));
  const auto fresh = lenet_with(compressed_by("top_k"), "65536");
  CHECK_THROWS_AS(fresh->restore(big->state()), ShapeError);  // also before the first step
}

TEST_CASE("what a compressor cannot do is refused with a way out") {
  CHECK_THROWS_WITH(lenet_with(compressed_by("sign")), Catch::Contains("error_feedback: false"));
  CHECK_THROWS_WITH(lenet_with(compressed_by("top_q")), Catch::Contains("did you mean top_k"));
  CHECK_THROWS_AS(lenet_with(compressed_by("top_k", {{"k", 1'000'000}})), ValueError);
  const auto optimizer = lenet_with(without_feedback(compressed_by("top_k", {{"k", 1'000'000}})));
  CHECK_THROWS_AS(trained(*optimizer, 1), ValueError);

  Network doubles("doubles");
  doubles.add_input("x", DType::float64, {std::int64_t{1}});
  doubles.add_parameter("w", Tensor::vector<double>({2}));
  doubles.add_node("Mul", {"x", "w"}, {"y"});
  doubles.add_node("ReduceMean", {"y"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  doubles.add_output("loss");
  const auto of_doubles = [&] {
    return distributed_optimizers()
        .at("consistent_decentralized")
        .make(std::dynamic_pointer_cast<ThreeStepOptimizer>(
                  optimizers().at("sgd").make(make_executor(doubles), "loss", {})),
              world(), compressed_by("top_k"));
  };
  CHECK_THROWS_WITH(of_doubles(), Catch::Contains("float64, expected float32 or less"));
}

TEST_CASE("a step of top_k sends its pairs and nothing else") {
  const auto optimizer = lenet_with(compressed_by("top_k", {{"fraction", 0.01}}), "4194304");
  const Traffic before = world()->traffic();
  (void)trained(*optimizer, 1);
  const auto sent = world()->traffic().since(before);
  // LeNet has 61,706 parameters in one bucket, padded by at most 60 bytes after each of 10.
  const int others = world()->size() - 1;
  CHECK(sent.total().bytes_sent >= others * (4 + 8 * 618));
  CHECK(sent.total().bytes_sent <= others * (4 + 8 * 620));
}

TEST_CASE("padding between gradients is not sent, and what is kept is sent in the next step") {
  Network network("two");
  network.add_parameter("a", Tensor::vector<float>({0, 0, 0}));
  network.add_parameter("b", Tensor::vector<float>({0, 0}));
  for (const Settings& settings :
       {Settings{{"compressor.name", "top_k"}, {"compressor.k", 1}}, Settings{{"k", 1}}}) {
    const bool sparse = settings.has("k");
    const auto exchange = gradient_exchanges()
                              .at(sparse ? "sparse" : "compressed")
                              .make(world(), all_reduces().at("ring").make(), settings);
    const auto buckets = cut_into_buckets(network.parameters());
    REQUIRE(buckets.size() == 1);
    Tensor data = buckets[0].data;
    REQUIRE(data.elements() > 5);  // there is padding
    exchange->lay_out(network, buckets);
    auto& first = network.parameters()[0].gradient;
    auto& second = network.parameters()[1].gradient;
    const auto step = [&](std::int64_t number, const Tensor& a, const Tensor& b) {
      std::ranges::fill(data.span<float>(), 1000.0f);
      network.parameters()[0].gradient.copy_from(first.elements() == a.elements() ? a : b);
      network.parameters()[1].gradient.copy_from(second.elements() == b.elements() ? b : a);
      exchange->start(buckets[0], {.number = number, .weight = 0.5})->wait();
    };
    const auto of = [&](std::int64_t elements) {
      const auto& gradient = first.elements() == elements ? first : second;
      const auto values = gradient.span<float>();
      return std::vector<float>(values.begin(), values.end());
    };
    const auto n = static_cast<float>(world()->size());
    step(0, Tensor::vector<float>({2, 8, -4}), Tensor::vector<float>({6, 0}));
    CHECK(of(3) == std::vector<float>{0, 4 * n, 0});
    CHECK(of(2) == std::vector<float>{0, 0});
    // Left are 1, 0, -2 and 3, 0.
    step(1, Tensor::vector<float>({0, 0, -8}), Tensor::vector<float>({0, 0}));
    CHECK(of(3) == std::vector<float>{0, 0, -6 * n});
    CHECK(of(2) == std::vector<float>{0, 0});
    step(2, Tensor::vector<float>({0, 0, 0}), Tensor::vector<float>({2, 0}));
    CHECK(of(2) == std::vector<float>{4 * n, 0});
    CHECK(of(3) == std::vector<float>{0, 0, 0});
  }
}

TEST_CASE("gradients of 16 bits are compressed in float32 and rounded once") {
  const auto check = [&]<class T>(const std::string& name, const Settings& settings) {
    CAPTURE(name, name_of(dtype_of<T>));
    Network network("half");
    network.add_parameter("w", Tensor::zeros(dtype_of<T>, {4}));
    const auto exchange =
        gradient_exchanges().at(name).make(world(), all_reduces().at("ring").make(), settings);
    const auto buckets = cut_into_buckets(network.parameters());
    exchange->lay_out(network, buckets);
    const auto gradient = network.parameters()[0].gradient.span<T>();
    const auto step = [&](std::int64_t number, const std::vector<float>& values) {
      std::ranges::transform(values, gradient.begin(), [](float x) { return T(x); });
      exchange->start(buckets[0], {.number = number, .weight = 1})->wait();
      return std::vector<float>(gradient.begin(), gradient.end());
    };
    const auto n = static_cast<float>(world()->size());
    CHECK(step(0, {3, 256, 0, 0}) == std::vector<float>{0, 256 * n, 0, 0});
    // A bfloat16 would round 259 to 260 on each rank.
    CHECK(step(1, {256, 0, 0, 0}) == std::vector<float>{float(T(259 * n)), 0, 0, 0});
  };
  for (const auto& [name, settings] : std::vector<std::pair<std::string, Settings>>{
           {"compressed", {{"compressor.name", "top_k"}, {"compressor.k", 1}}},
           {"sparse", {{"k", 1}}}}) {
    check.operator()<Float16>(name, settings);
    check.operator()<BFloat16>(name, settings);
  }
}
