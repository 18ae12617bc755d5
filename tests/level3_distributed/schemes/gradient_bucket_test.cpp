// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/exchange/gradient_bucket.hpp"
#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace d5;

namespace {

/// 16 parameters of 1 KiB.
Network sixteen() {
  Network network("sixteen");
  for (int i = 0; i < 16; ++i) {
    network.add_parameter("p" + std::to_string(i), Tensor::zeros(DType::float32, {256}));
  }
  return network;
}

std::vector<std::size_t> lengths(const BucketSizes& sizes) {
  Network network = sixteen();
  std::vector<std::size_t> all;
  std::size_t next = 0;
  for (const GradientBucket& bucket : cut_into_buckets(network.parameters(), sizes)) {
    CHECK(bucket.index == all.size());
    CHECK(bucket.begin == next);
    next = bucket.end;
    CHECK(bucket.data.bytes() == 1024 * (bucket.end - bucket.begin));
    all.push_back(bucket.end - bucket.begin);
  }
  CHECK(next == 16);
  return all;
}

using Lengths = std::vector<std::size_t>;

}  // namespace

TEST_CASE("gradients are cut into buckets of at least a size, the last of what is left") {
  CHECK(lengths({.least = 1}) == Lengths(16, 1));
  CHECK(lengths({.least = 5 * 1024}) == Lengths{5, 5, 5, 1});
  CHECK(lengths({.least = 5 * 1024 - 1}) == Lengths{5, 5, 5, 1});
  CHECK(lengths({.least = 1 << 20}) == Lengths{16});
}

TEST_CASE("the first bucket and the last may have sizes of their own") {
  CHECK(lengths({.least = 5 * 1024, .first = 1024}) == Lengths{1, 5, 5, 5});
  CHECK(lengths({.least = 5 * 1024, .last = 3 * 1024}) == Lengths{5, 5, 3, 3});
  CHECK(lengths({.least = 1 << 20, .first = 2048, .last = 4096}) == Lengths{2, 10, 4});
}
