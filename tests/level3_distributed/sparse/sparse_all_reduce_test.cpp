// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/level3_distributed/sparse/sparse_all_reduce.hpp"

using namespace d5;

namespace {

const int n = world()->size(), rank = world()->rank();

/// Rank `of`'s k elements of `size`: whole numbers, so that sums are exact in any order.
SparseStream stream_of(int of, std::int64_t size, std::int64_t k, std::uint64_t seed) {
  RandomStream random(seed, 0, static_cast<std::uint32_t>(of));
  std::vector<std::int64_t> order(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  random.shuffle(order);
  std::vector<std::uint32_t> indexes(order.begin(), order.begin() + k);
  std::ranges::sort(indexes);
  std::vector<float> values(indexes.size());
  for (float& value : values) value = static_cast<float>(random.below(2001)) - 1000;
  return {size, indexes, values};
}

std::vector<float> whole(const SparseStream& stream) {
  std::vector<float> values(static_cast<std::size_t>(stream.size()));
  stream.write(values);
  return values;
}

std::vector<float> expected_sum(std::int64_t size, std::int64_t k, std::uint64_t seed) {
  std::vector<float> sum(static_cast<std::size_t>(size));
  for (int r = 0; r < n; ++r) {
    const auto its = whole(stream_of(r, size, k, seed));
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += its[i];
  }
  return sum;
}

bool same_on_all_ranks(const std::vector<float>& mine) {
  const auto count = static_cast<std::int64_t>(mine.size());
  Tensor all = Tensor::empty(DType::float32, {count * n});
  world()->all_gather(Tensor::vector<float>(mine), all);
  for (int r = 0; r < n; ++r) {
    const Tensor its = all.slice(r * count, (r + 1) * count);
    if (count > 0 && std::memcmp(its.raw(), mine.data(), its.bytes()) != 0) return false;
  }
  return true;
}

/// The same on all ranks, spread evenly.
SparseStream even_stream(std::int64_t size, std::int64_t k) {
  std::vector<std::uint32_t> indexes;
  for (std::int64_t i = 0; i < k; ++i) indexes.push_back(static_cast<std::uint32_t>(i * size / k));
  std::vector<float> values(indexes.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
  return {size, indexes, values};
}

}  // namespace

TEST_CASE("every sparse all-reduce but ok_topk is the dense sum, the same bits on all ranks") {
  for (const auto& [name, entry] : sparse_all_reduces().entries()) {
    if (name == "ok_topk") continue;
    for (const auto& [size, k] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {1000, 10}, {1000, 0}, {1003, 300}, {100, 100}, {3, 1}, {1, 1}, {0, 0}}) {
      CAPTURE(name, size, k);
      const auto algorithm = entry.make();
      SparseStream stream = stream_of(rank, size, k, 5);
      algorithm->start(*world(), stream)->wait();
      CHECK(whole(stream) == expected_sum(size, k, 5));
      CHECK(same_on_all_ranks(whole(stream)));
    }
  }
}

TEST_CASE("every sparse all-reduce gives the same bits on all ranks where sums round") {
  for (const auto& [name, entry] : sparse_all_reduces().entries()) {
    CAPTURE(name);
    RandomStream random(8, 0, static_cast<std::uint32_t>(rank));
    std::vector<float> values(200);
    std::vector<std::uint32_t> indexes;
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = random.normal();
      indexes.push_back(static_cast<std::uint32_t>(3 * i));
    }
    SparseStream stream(1000, indexes, values);
    entry.make()->start(*world(), stream)->wait();
    CHECK(same_on_all_ranks(whole(stream)));
  }
}

TEST_CASE("ranks with unlike many elements, or none, are summed") {
  for (const auto& [name, entry] : sparse_all_reduces().entries()) {
    CAPTURE(name);
    // Rank r has r elements, each a place of its own; ok_topk keeps the average number of them.
    std::vector<std::uint32_t> indexes;
    for (int i = 0; i < rank; ++i) indexes.push_back(static_cast<std::uint32_t>(10 * rank + i));
    SparseStream stream(100, indexes, std::vector<float>(indexes.size(), 1));
    entry.make()->start(*world(), stream)->wait();
    const auto sum = whole(stream);
    const auto ones = std::ranges::count(sum, 1.0f);
    CHECK(ones == n * (n - 1) / 2);  // equals of the last that ok_topk keeps stay too
    CHECK(same_on_all_ranks(sum));
  }
}

TEST_CASE("ok_topk gives the largest of the sum, and equals of the last") {
  for (const auto& [size, k] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1000, 10}, {5000, 200}, {100, 30}, {7, 1}, {100, 0}}) {
    CAPTURE(size, k);
    SparseStream stream = stream_of(rank, size, k, 6);
    const auto dense = expected_sum(size, k, 6);
    sparse_all_reduces().at("ok_topk").make()->start(*world(), stream)->wait();
    auto magnitudes = dense;
    for (float& m : magnitudes) m = std::abs(m);
    std::ranges::sort(magnitudes, std::greater<>());
    const float bound = k > 0 ? magnitudes[static_cast<std::size_t>(k - 1)] : INFINITY;
    auto expected = dense;
    for (float& x : expected) x = std::abs(x) >= bound ? x : 0;
    CHECK(whole(stream) == expected);
  }
}

/// Bytes that a rank sends in an all-reduce.
std::int64_t reduced(std::int64_t bytes) { return Traffic::of_all_reduce(bytes, n); }

TEST_CASE("bytes on the wire are what each algorithm's formula says") {
  // k pairs of 8 bytes, the same places on all ranks, k / n in each part; a count of 4 in front.
  const std::int64_t size = 1200, k = 24, part = k / n;
  const int whole_ranks = static_cast<int>(std::bit_floor(static_cast<unsigned>(n)));
  const int steps = std::bit_width(static_cast<unsigned>(whole_ranks)) - 1;
  const std::int64_t doubling = rank >= whole_ranks      ? 1
                                : rank + whole_ranks < n ? steps + 1
                                                         : steps;
  const std::int64_t halves = (n - 1) * (4 + 8 * part);
  for (const auto& [name, bytes] : std::vector<std::pair<std::string, std::int64_t>>{
           {"recursive_doubling", doubling * (4 + 8 * k)},
           {"split_all_gather", 2 * halves},
           {"split_dense", halves + (n - 1) * 4 * size / n},
           // begins of parts, their sums, four histograms, lengths of parts, and the parts
           {"ok_topk",
            reduced(8 * (n + 1)) + halves + 4 * reduced(256 * 8) + (n - 1) * (8 + 4 + 8 * part)}}) {
    CAPTURE(name);
    SparseStream stream = even_stream(size, k);
    const Traffic before = world()->traffic();
    sparse_all_reduces().at(name).make()->start(*world(), stream)->wait();
    CHECK(world()->traffic().since(before).total().bytes_sent == (n == 1 ? 0 : bytes));
  }
}

TEST_CASE("ok_topk keeps its threshold and parts for the given number of steps") {
  const std::int64_t size = 1200, k = 24, part = k / n;
  const std::int64_t of_sum = (n - 1) * (4 + 8 * part), told = (n - 1) * (8 + 4 + 8 * part),
                     to_agree = reduced(8 * (n + 1)) + 4 * reduced(256 * 8);
  const Settings thrice{{"every", 3}};
  auto algorithm = sparse_all_reduces().at("ok_topk").make(thrice);
  for (int step = 0; step < 7; ++step) {
    CAPTURE(step);
    SparseStream stream = even_stream(size, k);
    const Traffic before = world()->traffic();
    algorithm->start(*world(), stream)->wait();
    const auto sent = world()->traffic().since(before).total().bytes_sent;
    CHECK(sent == (n == 1 ? 0 : of_sum + told + (step % 3 == 0 ? to_agree : 0)));
    if (step != 4) continue;
    const ValueMap state = algorithm->state();  // a restored one continues with the agreed state
    algorithm = sparse_all_reduces().at("ok_topk").make(thrice);
    algorithm->restore(state);
  }
}

TEST_CASE("ok_topk gives what reaches the threshold of an earlier step, in between") {
  const auto algorithm = sparse_all_reduces().at("ok_topk").make({{"every", 2}});
  const auto sum_of = [&](const std::vector<float>& values) {
    SparseStream stream(100, {5, 20, 40, 60}, values);
    algorithm->start(*world(), stream)->wait();
    return whole(stream);
  };
  const auto expected = [](const std::vector<float>& values) {
    const std::vector<std::size_t> places{5, 20, 40, 60};
    std::vector<float> sum(100);
    for (std::size_t i = 0; i < 4; ++i) sum[places[i]] = static_cast<float>(n) * values[i];
    return sum;
  };
  CHECK(sum_of({8, -2, 4, 3}) == expected({8, -2, 4, 3}));  // four of four: the bound is 2
  CHECK(sum_of({1, -2, 9, 1.5f}) == expected({0, -2, 9, 0}));
  CHECK(sum_of({1, -2, 9, 1.5f}) == expected({1, -2, 9, 1.5f}));
}

TEST_CASE("what ok_topk sends between ranks stays, however many there are and wherever pairs lie") {
  // All pairs in the first hundredth of the vector: equal parts would put all of it on one rank.
  const std::int64_t k = 240;
  std::vector<std::uint32_t> indexes;
  for (std::uint32_t i = 0; i < k; ++i) indexes.push_back(4 * i);
  SparseStream stream(100'000, indexes, std::vector<float>(k, 1));
  const Traffic before = world()->traffic();
  sparse_all_reduces().at("ok_topk").make()->start(*world(), stream)->wait();
  const auto sent = world()->traffic().since(before);
  if (n > 1) CHECK(sent.by_call.at("send").bytes_sent == (n - 1) * (4 + 8 * k / n));
}

TEST_CASE("a message that is no stream is refused by name of the rank") {
  if (n == 1) return;
  // A faulty partner: rank 0 sends garbage instead of a part.
  const int tag = world()->own_tag() + 1;  // the next algorithm's
  if (rank == 0) {
    const Tensor nonsense = Tensor::vector<std::uint8_t>({2, 0, 0, 0, 9, 9});
    for (int r = 1; r < n; ++r) world()->send(nonsense, r, tag);
    const auto rest = world()->own_tag();
    CHECK(rest == tag);
    Tensor sink = Tensor::empty(DType::uint8, {4000});
    Received received;
    for (int r = 1; r < n; ++r) world()->receive(sink, r, tag, &received);
  } else {
    SparseStream stream = even_stream(40, 4);
    const auto algorithm = sparse_all_reduces().at("split_all_gather").make();
    CHECK_THROWS_WITH(algorithm->start(*world(), stream)->wait(),
                      Catch::Contains("from rank 0: sparse stream: a message of 6 bytes"));
  }
  world()->barrier();
}

TEST_CASE("no sparse all-reduce takes a setting that is none of its options") {
  for (const auto& [name, entry] : sparse_all_reduces().entries()) {
    CAPTURE(name);
    CHECK_FALSE(entry.summary().empty());
    CHECK_THROWS_AS(entry.make({{"no_such_option", 1}}), NotFound);
  }
}
