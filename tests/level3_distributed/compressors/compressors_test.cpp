// SPDX-License-Identifier: Apache-2.0
// Properties of every compressor, user-defined ones too.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/level3_distributed/compressors/gradient_compressor.hpp"

using namespace d5;

namespace {

/// Two matrices and two vectors, padding in between, of an odd number of elements.
const std::vector<GradientPart> kParts = {
    {0, {16, 24}}, {384, {10}}, {400, {7, 5, 3}}, {512, {11}}};
constexpr std::int64_t kElements = 523;

bool is_padding(std::int64_t i) {
  return std::ranges::none_of(kParts, [i](const GradientPart& part) {
    return i >= part.offset && i < part.offset + part.shape.elements();
  });
}

std::vector<float> gradient_of(int rank, std::int64_t step) {
  RandomStream random(17, static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(rank));
  std::vector<float> values(kElements);
  for (std::int64_t i = 0; i < kElements; ++i) {
    const float value = random.normal();
    values[static_cast<std::size_t>(i)] = is_padding(i) ? 0 : value;
  }
  return values;
}

Tensor tensor_of(const std::vector<float>& values) { return Tensor::vector<float>(values); }

struct Result {
  Tensor sum, rest;
};

/// The result for this rank's `value`.
Result compressed(GradientCompressor& compressor, const std::vector<float>& value,
                  std::int64_t step = 0, const std::string& all_reduce = "ring") {
  const auto ring = all_reduces().at(all_reduce).make();
  Result result{tensor_of(value), Tensor()};
  if (compressor.leaves_rest()) result.rest = Tensor::zeros(DType::float32, {kElements});
  compressor
      .start(*world(), *ring, result.sum, result.rest, {.bucket = 1, .step = step, .parts = kParts})
      ->wait();
  return result;
}

std::vector<Tensor> from_all_ranks(const Tensor& mine) {
  Tensor all = Tensor::empty(mine.dtype(), {world()->size() * mine.elements()});
  world()->all_gather(mine, all);
  std::vector<Tensor> result;
  for (int r = 0; r < world()->size(); ++r) {
    result.push_back(all.slice(r * mine.elements(), (r + 1) * mine.elements()));
  }
  return result;
}

bool same_bits_on_all_ranks(const Tensor& mine) {
  return std::ranges::all_of(from_all_ranks(mine), [&](const Tensor& its) {
    return std::memcmp(its.raw(), mine.raw(), mine.bytes()) == 0;
  });
}

void for_each_compressor(const std::function<void(GradientCompressor&, const std::string&)>& body) {
  for (const auto& [name, entry] : gradient_compressors().entries()) {
    CAPTURE(name);
    body(*entry.make(), name);
  }
}

}  // namespace

TEST_CASE("every compressor gives the same bits on all ranks, step after step") {
  for_each_compressor([](GradientCompressor& compressor, const std::string&) {
    for (std::int64_t step = 0; step < 3; ++step) {
      CHECK(same_bits_on_all_ranks(
          compressed(compressor, gradient_of(world()->rank(), step), step).sum));
    }
  });
}

TEST_CASE("the result is the sum of what the ranks sent, which their rests tell") {
  const int n = world()->size();
  for_each_compressor([n](GradientCompressor& compressor, const std::string& name) {
    if (!compressor.leaves_rest()) return;
    const auto value = gradient_of(world()->rank(), 0);
    const Result result = compressed(compressor, value);
    Tensor sent = Tensor::empty(DType::float64, {kElements});
    for (std::int64_t i = 0; i < kElements; ++i) {
      sent.data<double>()[i] =
          double{value[static_cast<std::size_t>(i)]} - double{result.rest.data<float>()[i]};
    }
    std::vector<double> sum(kElements), magnitude(kElements);
    for (const Tensor& its : from_all_ranks(sent)) {
      for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] += its.data<double>()[i];
        magnitude[i] += std::abs(its.data<double>()[i]);
      }
    }
    // The n - 1 additions, and each rest's subtraction, round once: by 2^-24 of float32, and what
    // travels as a smaller type by half a unit of that at each addition. power_sgd adds up to 4
    // products a rank, and rounds P between.
    const double unit = name == "float16" ? 0x1p-11 : name == "bfloat16" ? 0x1p-8 : 0x1p-24;
    const double roundings = n + 1 + (name == "power_sgd" ? 8 * n : 0);
    double largest = 0;
    for (const double m : magnitude) largest = std::max(largest, m);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      CHECK(std::abs(result.sum.data<float>()[i] - sum[i]) <=
            roundings * unit * std::max(magnitude[i], 1e-2 * largest) + n * 0x1p-24 * 4);
    }
  });
}

TEST_CASE("what was sent in 20 steps, and what is left, are all gradients of a rank") {
  for_each_compressor([](GradientCompressor& compressor, const std::string&) {
    if (!compressor.leaves_rest()) return;
    const int rank = world()->rank();
    constexpr int kSteps = 20;
    std::vector<double> gradients(kElements), sent(kElements), magnitude(kElements);
    std::vector<float> rest(kElements);
    for (int step = 0; step < kSteps; ++step) {
      std::vector<float> value = gradient_of(rank, step);
      for (std::size_t i = 0; i < value.size(); ++i) {
        gradients[i] += value[i];
        value[i] += rest[i];
        magnitude[i] += std::abs(value[i]);
      }
      const Result result = compressed(compressor, value, step);
      for (std::size_t i = 0; i < value.size(); ++i) {
        rest[i] = result.rest.data<float>()[i];
        sent[i] += double{value[i]} - rest[i];
      }
    }
    for (std::size_t i = 0; i < sent.size(); ++i) {
      // e + g rounds by 2^-24 of itself at each step; all else here is in float64.
      CHECK(std::abs(sent[i] + rest[i] - gradients[i]) <= 0x1p-24 * magnitude[i] + 1e-12);
    }
  });
}

TEST_CASE("a compressor that keeps everything is the dense sum") {
  const int n = world()->size();
  std::vector<double> sum(kElements), magnitude(kElements);
  for (int r = 0; r < n; ++r) {
    const auto its = gradient_of(r, 0);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i] += its[i];
      magnitude[i] += std::abs(its[i]);
    }
  }
  for (const char* name : {"top_k", "random_k"}) {
    CAPTURE(name);
    const auto compressor = gradient_compressors().at(name).make({{"fraction", 1}});
    const Result result = compressed(*compressor, gradient_of(world()->rank(), 0));
    for (std::size_t i = 0; i < sum.size(); ++i) {
      CHECK(result.rest.data<float>()[i] == 0);
      // n - 1 additions of float32.
      CHECK(std::abs(result.sum.data<float>()[i] - sum[i]) <= (n - 1) * 0x1p-24 * magnitude[i]);
    }
  }
  // All columns that there are: P spans M's, and P P^T M is M. Products of up to 24 terms of
  // magnitude below 4, three deep, each rounded by 2^-24 of some 24 * 4 * 4.
  const auto compressor = gradient_compressors().at("power_sgd").make({{"rank", 64}});
  const Result result = compressed(*compressor, gradient_of(world()->rank(), 0));
  for (std::size_t i = 0; i < sum.size(); ++i) {
    CHECK(std::abs(result.rest.data<float>()[i]) <= 3 * 24 * 16 * 0x1p-24);
    CHECK(std::abs(result.sum.data<float>()[i] - sum[i]) <= n * 3 * 24 * 16 * 0x1p-24);
  }
}

TEST_CASE("a value that is not finite reaches every rank, or stays in the rest") {
  for_each_compressor([](GradientCompressor& compressor, const std::string& name) {
    if (name == "sign") return;  // a vote has no magnitude
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
          -std::numeric_limits<float>::infinity()}) {
      auto value = gradient_of(world()->rank(), 0);
      if (world()->rank() == world()->size() - 1) value[100] = bad;
      const Result result = compressed(compressor, value);
      const auto finite = [](const Tensor& tensor) {
        return std::ranges::all_of(tensor.span<float>(), [](float x) { return std::isfinite(x); });
      };
      const bool here = !finite(result.sum);
      const bool kept = name == "random_k" && !finite(result.rest);
      CHECK((here || kept || (name == "random_k" && world()->rank() < world()->size() - 1)));
    }
  });
}

TEST_CASE("zeros, one element and none pass through every compressor") {
  for_each_compressor([](GradientCompressor& compressor, const std::string& name) {
    const auto ring = all_reduces().at("ring").make();
    for (const std::int64_t elements : {1, 9}) {
      Tensor value = Tensor::zeros(DType::float32, {elements});
      compressor.start(*world(), *ring, value, Tensor(), {.bucket = 7 + std::size_t(elements)})
          ->wait();
      const auto wrong = std::ranges::count_if(
          value.span<float>(), [&](float x) { return name == "sign" ? std::abs(x) > 1 : x != 0; });
      CHECK(wrong == 0);
    }
  });
}

TEST_CASE("bytes on the wire are what each formula says") {
  const std::int64_t n = kElements;
  const auto up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  struct Case {
    std::string name;
    Settings settings;
    std::int64_t bytes;
    std::string call;  // the collective that carries them
  };
  // P and Q of 16 x 24 and 7 x 15, and 21 elements of vectors.
  const std::int64_t low_rank = 4 * (2 * (16 + 24) + 2 * (7 + 15) + 21);
  for (const Case& one : {
           Case{"float16", {}, 2 * n, "all_reduce"},
           Case{"bfloat16", {}, 2 * n, "all_reduce"},
           Case{"top_k", {{"fraction", 0.1}}, 4 + 8 * 53, "all_gather"},
           Case{"top_k", {{"k", 5}}, 4 + 8 * 5, "all_gather"},
           Case{"top_k", {{"fraction", 0.9}}, 4 + 4 * n, "all_gather"},
           Case{"random_k", {{"k", 37}}, 4 * 37, "all_reduce"},
           Case{"qsgd", {{"levels", 7}, {"block", 100}}, 4 * 6 + up(4 * n, 8), "all_gather"},
           Case{"qsgd", {{"levels", 1}, {"block", 1000}}, 4 + up(2 * n, 8), "all_gather"},
           Case{"qsgd", {{"levels", 127}, {"block", 512}}, 4 * 2 + n, "all_gather"},
           Case{"qsgd", {}, 4 * up(n, 32) + up(4 * n, 8), "all_gather"},
           Case{"terngrad", {}, 4 * 4 + up(2 * n, 8), "all_gather"},
           Case{"sign", {}, up(n, 8), "all_gather"},
           // the four parameters: 384, 10, 105 and 11 signs
           Case{"scaled_sign", {}, 4 * 4 + 48 + 2 + 14 + 2, "all_gather"},
           Case{"int8", {}, 8 + n, "all_gather"},
           Case{"power_sgd", {{"rank", 2}}, low_rank, "all_reduce"},
       }) {
    CAPTURE(one.name, one.bytes);
    const auto compressor = gradient_compressors().at(one.name).make(one.settings);
    const Traffic before = world()->traffic();
    (void)compressed(*compressor, gradient_of(world()->rank(), 0), 0, "mpi");
    const auto sent = world()->traffic().since(before);
    const std::int64_t others = world()->size() - 1;
    // Four scales of terngrad are maxima by an all-reduce; power_sgd sums twice, each rounded down.
    const auto summed = [&](std::int64_t bytes) {
      return Traffic::of_all_reduce(bytes, int(others) + 1);
    };
    const std::int64_t expected = one.name == "terngrad"     ? summed(4 * 4) + others * up(2 * n, 8)
                                  : one.call == "all_reduce" ? summed(one.bytes)
                                                             : others * one.bytes;
    CHECK(sent.by_call.contains(one.call));
    CHECK(std::abs(sent.total().bytes_sent - expected) <= sent.total().calls);
    CHECK(sent.total().bytes_received == sent.total().bytes_sent);
  }
}

TEST_CASE("draws depend on seed, step and bucket, and on nothing else") {
  for (const char* name : {"qsgd", "terngrad", "random_k"}) {
    CAPTURE(name);
    const auto& entry = gradient_compressors().at(name);
    const auto value = gradient_of(world()->rank(), 0);
    const auto sum = [&](int seed, std::int64_t step) {
      return compressed(*entry.make({{"seed", seed}}), value, step).sum;
    };
    const auto same = [](const Tensor& a, const Tensor& b) {
      return std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
    };
    CHECK(same(sum(1, 5), sum(1, 5)));
    CHECK_FALSE(same(sum(1, 5), sum(2, 5)));
    CHECK_FALSE(same(sum(1, 5), sum(1, 6)));
  }
}

TEST_CASE("an unknown setting, or one out of range, is refused") {
  const auto& all = gradient_compressors();
  CHECK_THROWS_AS(all.at("top_k").make({{"fraction", 0}}), ValueError);
  CHECK_THROWS_AS(all.at("top_k").make({{"fraction", 1.5}}), ValueError);
  CHECK_THROWS_AS(all.at("qsgd").make({{"levels", 128}}), ValueError);
  CHECK_THROWS_AS(all.at("power_sgd").make({{"rank", 0}}), ValueError);
  for (const auto& [name, entry] : all.entries()) {
    CAPTURE(name);
    CHECK_FALSE(entry.summary().empty());
    CHECK_THROWS_AS(entry.make({{"no_such_option", 1}}), NotFound);
  }
  for (const char* name : {"top_k", "random_k"}) {
    const auto compressor = all.at(name).make({{"k", kElements + 1}});
    CHECK_THROWS_WITH(compressed(*compressor, gradient_of(0, 0)),
                      Catch::Contains("k = 524 elements of a bucket that has 523"));
  }
}
