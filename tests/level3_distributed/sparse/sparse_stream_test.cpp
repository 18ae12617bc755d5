// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cstring>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/level3_distributed/sparse/sparse_stream.hpp"

using namespace d5;

namespace {

using Floats = std::vector<float>;
using Indexes = std::vector<std::uint32_t>;

Floats elements_of(const SparseStream& stream) {
  Floats values(static_cast<std::size_t>(stream.size()), -1);
  stream.write(values);
  return values;
}

std::vector<std::uint8_t> message_of(const SparseStream& stream) {
  std::vector<std::uint8_t> message(static_cast<std::size_t>(stream.message_bytes()));
  stream.encode(message);
  return message;
}

std::vector<std::uint8_t> words(const std::vector<std::uint32_t>& values) {
  std::vector<std::uint8_t> bytes(4 * values.size());
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace

TEST_CASE("a sum of streams has the indexes of both, and adds where both have one") {
  const SparseStream a(10, {1, 4, 7}, {1, 2, 3}), b(10, {0, 4}, {5, -2});
  const SparseStream sum = a.plus(b);
  CHECK_FALSE(sum.is_dense());
  CHECK(std::ranges::equal(sum.indexes(), Indexes{0, 1, 4, 7}));
  CHECK(std::ranges::equal(sum.values(), Floats{5, 1, 0, 3}));
  CHECK(elements_of(sum) == elements_of(b.plus(a)));
  CHECK(elements_of(a.plus(SparseStream(10))) == elements_of(a));
  CHECK_THROWS_AS(a.plus(SparseStream(11)), ShapeError);
}

TEST_CASE("a stream turns dense where its pairs cost as many bytes as the vector") {
  CHECK_FALSE(SparseStream(5, {1, 2}, {1, 1}).is_dense());  // 16 bytes of 20
  CHECK(SparseStream(4, {1, 2}, {1, 1}).is_dense());        // 16 of 16
  const SparseStream sum = SparseStream(5, {1, 2}, {1, 1}).plus(SparseStream(5, {2, 3}, {1, 1}));
  CHECK(sum.is_dense());
  CHECK(elements_of(sum) == Floats{0, 1, 2, 1, 0});
  CHECK(elements_of(sum.plus(SparseStream(5, {4}, {9}))) == Floats{0, 1, 2, 1, 9});
  CHECK(elements_of(SparseStream(5, {4}, {9}).plus(sum)) == Floats{0, 1, 2, 1, 9});
  CHECK(elements_of(sum.plus(sum)) == Floats{0, 2, 4, 2, 0});
}

TEST_CASE("a part counts its indexes from its own beginning") {
  const SparseStream stream(100, {3, 10, 19, 20}, {1, 2, 3, 4});
  const SparseStream part = stream.part(10, 20);
  CHECK(part.size() == 10);
  CHECK(std::ranges::equal(part.indexes(), Indexes{0, 9}));
  CHECK(std::ranges::equal(part.values(), Floats{2, 3}));
  CHECK(stream.part(50, 50).size() == 0);
  CHECK(elements_of(SparseStream::dense({1, 2, 3}).part(1, 3)) == Floats{2, 3});
}

TEST_CASE("a message is as long as its formula, and reads back") {
  for (const SparseStream& stream : {SparseStream(100, {3, 99}, {1, -2}), SparseStream(7),
                                     SparseStream(0), SparseStream::dense({1, 2, 3})}) {
    const auto message = message_of(stream);
    CHECK(message.size() ==
          (stream.is_dense() ? 4 + 4 * stream.values().size() : 4 + 8 * stream.values().size()));
    const SparseStream read = SparseStream::decode(message, stream.size());
    CHECK(read.is_dense() == stream.is_dense());
    CHECK(std::ranges::equal(read.indexes(), stream.indexes()));
    CHECK(std::ranges::equal(read.values(), stream.values()));
  }
}

TEST_CASE("a message that is cut, too long, or of bad indexes is refused") {
  const auto good = message_of(SparseStream(100, {3, 99}, {1, -2}));
  for (std::size_t length = 0; length < good.size(); ++length) {
    CHECK_THROWS_AS(SparseStream::decode(std::span(good).first(length), 100), CommunicationError);
  }
  auto longer = good;
  longer.push_back(0);
  CHECK_THROWS_AS(SparseStream::decode(longer, 100), CommunicationError);
  CHECK_THROWS_WITH(SparseStream::decode(good, 99), Catch::Contains("index 99 at place 1"));
  CHECK_THROWS_WITH(SparseStream::decode(words({2, 9, 5, 0, 0}), 100),
                    Catch::Contains("to ascend"));
  CHECK_THROWS_AS(SparseStream::decode(words({2, 5, 5, 0, 0}), 100), CommunicationError);
  // Numbers whose products do not fit in 32 bits, or not in memory.
  for (const std::uint32_t count : {0x20000000u, 0x40000001u, 0x80000000u, 0xfffffffeu}) {
    CHECK_THROWS_AS(SparseStream::decode(words({count}), 100), CommunicationError);
    CHECK_THROWS_AS(SparseStream::decode(words({count, 1, 2}), 0xfffffffe), CommunicationError);
  }
  CHECK_THROWS_AS(SparseStream::decode(words({SparseStream::kDense, 1}), 2), CommunicationError);
  CHECK_THROWS_AS(SparseStream::decode(words({3, 0, 1, 2, 0, 0, 0}), 2), CommunicationError);
}

TEST_CASE("random bytes are a stream, or refused") {
  RandomStream random(23);
  int streams = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto size = static_cast<std::int64_t>(random.below(12));
    std::vector<std::uint8_t> message(random.below(8) != 0 ? 4 * random.below(8)
                                                           : random.below(32));
    for (auto& byte : message) byte = static_cast<std::uint8_t>(random.below(256));
    // Mostly small words, which come further.
    for (std::size_t b = 0; b < message.size(); ++b) {
      if (b % 4 != 0 && random.below(8) != 0) message[b] = 0;
      if (b % 4 == 0) message[b] %= 12;
    }
    try {
      const SparseStream stream = SparseStream::decode(message, size);
      (void)elements_of(stream.plus(stream));
      ++streams;
    } catch (const CommunicationError&) {
    }
  }
  CHECK(streams > 100);  // both happened
  CHECK(streams < 19'500);
}

TEST_CASE("a malformed stream is refused") {
  CHECK_THROWS_AS(SparseStream(-1), ValueError);
  CHECK_THROWS_AS(SparseStream(std::int64_t{1} << 32), ValueError);
  CHECK_THROWS_AS(SparseStream(5, {1, 1}, {0, 0}), ValueError);
  CHECK_THROWS_AS(SparseStream(5, {5}, {0}), ValueError);
  CHECK_THROWS_AS(SparseStream(5, {1}, {0, 0}), ShapeError);
}
