// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "d5/core/tensor/random.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

using namespace d5;

namespace {

/// The contribution of rank `rank`: numbers whose sums are rounded.
std::vector<float> contribution(int rank, std::int64_t elements) {
  RandomStream random(2026, static_cast<std::uint32_t>(rank));
  std::vector<float> values(static_cast<std::size_t>(elements));
  for (auto& value : values) value = random.normal();
  return values;
}

/// Whether `data` has the same bits on all ranks.
bool same_on_all_ranks(const Tensor& data) {
  Tensor all = Tensor::empty(DType::float32, {world()->size() * data.elements()});
  world()->all_gather(data, all);
  for (int r = 0; r < world()->size(); ++r) {
    const float* theirs = all.data<float>() + r * data.elements();
    if (std::memcmp(theirs, data.data<float>(), data.bytes()) != 0) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("every all-reduce sums to the same bits on all ranks, at any size") {
  for (const auto& [name, entry] : all_reduces().entries()) {
    const auto all_reduce = entry.make({});
    for (const std::int64_t elements : {0, 1, 2, 3, 5, 64, 1000, 70001}) {
      INFO(name << " of " << elements << " elements");
      Tensor data = Tensor::vector(contribution(world()->rank(), elements));
      all_reduce->start(*world(), data)->wait();
      CHECK(same_on_all_ranks(data));

      std::vector<double> expected(static_cast<std::size_t>(elements)), magnitude(expected);
      for (int r = 0; r < world()->size(); ++r) {
        const auto values = contribution(r, elements);
        for (std::size_t i = 0; i < values.size(); ++i) {
          expected[i] += values[i];
          magnitude[i] += std::abs(values[i]);
        }
      }
      double worst = 0;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const double error = std::abs(data.data<float>()[i] - expected[i]);
        if (magnitude[i] > 0) worst = std::max(worst, error / magnitude[i]);
      }
      // n - 1 additions, each rounding by at most 2^-24 of the sum of magnitudes.
      CHECK(worst <= (world()->size() - 1) * std::ldexp(1.0, -24));
    }
  }
}

TEST_CASE("every all-reduce finds the largest and the smallest") {
  for (const auto& [name, entry] : all_reduces().entries()) {
    INFO(name);
    const auto all_reduce = entry.make({});
    const int rank = world()->rank();
    Tensor largest = Tensor::vector<std::int32_t>({rank, -rank, 5}), smallest = largest.copy();
    all_reduce->start(*world(), largest, Reduction::maximum)->wait();
    all_reduce->start(*world(), smallest, Reduction::minimum)->wait();
    const int last = world()->size() - 1;
    CHECK(std::ranges::equal(largest.span<std::int32_t>(), std::vector{last, 0, 5}));
    CHECK(std::ranges::equal(smallest.span<std::int32_t>(), std::vector{0, -last, 5}));
  }
}

TEST_CASE("every all-reduce keeps several under way apart") {
  for (const auto& [name, entry] : all_reduces().entries()) {
    INFO(name);
    const auto all_reduce = entry.make({});
    std::vector<Tensor> data;
    std::vector<std::unique_ptr<Request>> requests;
    for (int i = 0; i < 6; ++i) {
      data.push_back(Tensor::zeros(DType::float64, {100 * (i + 1)}));
      std::ranges::fill(data.back().span<double>(), i);
      requests.push_back(all_reduce->start(*world(), data.back()));
    }
    // Each rank progresses them in a different order.
    for (int k = 0; k < 6; ++k) {
      const auto i = static_cast<std::size_t>(world()->rank() % 2 ? k : 5 - k);
      while (!requests[i]->done()) {
        for (auto& other : requests) (void)other->done();
      }
    }
    for (int i = 0; i < 6; ++i) {
      const auto values = data[static_cast<std::size_t>(i)].span<double>();
      CHECK(std::ranges::all_of(values, [&](double v) { return v == i * world()->size(); }));
    }
  }
}

TEST_CASE("an unknown all-reduce names the known ones") {
  CHECK_THROWS_WITH(all_reduces().at("rings"), Catch::Contains("ring") && Catch::Contains("mpi"));
}
