// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/sparse/sparse_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

/// Position of the first index that does not ascend or is past the end; the number of indexes if
/// all are valid.
std::size_t first_bad_index(std::span<const std::uint32_t> indexes, std::int64_t size) {
  std::int64_t last = -1;
  for (std::size_t i = 0; i < indexes.size(); ++i) {
    if (indexes[i] <= last || indexes[i] >= size) return i;
    last = indexes[i];
  }
  return indexes.size();
}

constexpr std::size_t kWord = 4;

}  // namespace

SparseStream::SparseStream(std::int64_t size) : size_(size) {
  if (size < 0 || size >= std::int64_t{kDense}) {
    throw ValueError(fmt::format(
        "sparse stream: {} elements; expected 0 or more, and fewer than 2^32 - 1", size));
  }
}

SparseStream::SparseStream(std::int64_t size, std::vector<std::uint32_t> indexes,
                           std::vector<float> values)
    : SparseStream(size) {
  if (indexes.size() != values.size()) {
    throw ShapeError(fmt::format("sparse stream: {} indexes and {} values; expected equal numbers",
                                 indexes.size(), values.size()));
  }
  if (const std::size_t bad = first_bad_index(indexes, size); bad < indexes.size()) {
    throw ValueError(fmt::format(
        "sparse stream: index {} at place {} of {} elements; expected them to ascend, below the "
        "size",
        indexes[bad], bad, size));
  }
  indexes_ = std::move(indexes);
  values_ = std::move(values);
  turn_dense_where_cheaper();
}

SparseStream SparseStream::dense(std::vector<float> values) {
  SparseStream result(static_cast<std::int64_t>(values.size()));
  result.dense_ = true;
  result.values_ = std::move(values);
  return result;
}

void SparseStream::turn_dense_where_cheaper() {
  if (dense_ || size_ == 0 || 2 * static_cast<std::int64_t>(indexes_.size()) < size_) return;
  std::vector<float> whole(static_cast<std::size_t>(size_));
  write(whole);
  *this = dense(std::move(whole));
}

SparseStream SparseStream::part(std::int64_t begin, std::int64_t end) const {
  SparseStream result(end - begin);
  if (dense_) return dense({values_.begin() + begin, values_.begin() + end});
  const auto first = std::ranges::lower_bound(indexes_, begin) - indexes_.begin();
  const auto last = std::ranges::lower_bound(indexes_, end) - indexes_.begin();
  result.indexes_.assign(indexes_.begin() + first, indexes_.begin() + last);
  for (auto& index : result.indexes_) index -= static_cast<std::uint32_t>(begin);
  result.values_.assign(values_.begin() + first, values_.begin() + last);
  result.turn_dense_where_cheaper();
  return result;
}

void SparseStream::write(std::span<float> whole) const {
  if (dense_) {
    std::ranges::copy(values_, whole.begin());
    return;
  }
  std::ranges::fill(whole, 0.0f);
  for (std::size_t i = 0; i < indexes_.size(); ++i) whole[indexes_[i]] = values_[i];
}

SparseStream SparseStream::plus(const SparseStream& other) const {
  if (size_ != other.size_) {
    throw ShapeError(fmt::format("sparse stream: {} elements plus {}; expected equal sizes", size_,
                                 other.size_));
  }
  if (!dense_ && other.dense_) return other.plus(*this);  // x + y is y + x, to the bit
  SparseStream sum(size_);
  if (dense_) {
    sum = *this;
    if (other.dense_) {
      for (std::size_t i = 0; i < sum.values_.size(); ++i) sum.values_[i] += other.values_[i];
    } else {
      for (std::size_t i = 0; i < other.indexes_.size(); ++i) {
        sum.values_[other.indexes_[i]] += other.values_[i];
      }
    }
    return sum;
  }
  const std::size_t most = indexes_.size() + other.indexes_.size();
  sum.indexes_.resize(most);
  sum.values_.resize(most);
  std::size_t a = 0, b = 0, n = 0;
  while (a < indexes_.size() && b < other.indexes_.size()) {
    const std::uint32_t mine = indexes_[a], its = other.indexes_[b];
    sum.indexes_[n] = std::min(mine, its);
    sum.values_[n++] = mine == its  ? values_[a] + other.values_[b]
                       : mine < its ? values_[a]
                                    : other.values_[b];
    a += mine <= its;
    b += its <= mine;
  }
  for (; a < indexes_.size(); ++a) {
    sum.indexes_[n] = indexes_[a];
    sum.values_[n++] = values_[a];
  }
  for (; b < other.indexes_.size(); ++b) {
    sum.indexes_[n] = other.indexes_[b];
    sum.values_[n++] = other.values_[b];
  }
  sum.indexes_.resize(n);
  sum.values_.resize(n);
  sum.turn_dense_where_cheaper();
  return sum;
}

std::int64_t SparseStream::message_bytes() const {
  return static_cast<std::int64_t>(kWord * (1 + indexes_.size() + values_.size()));
}

void SparseStream::encode(std::span<std::uint8_t> message) const {
  const std::uint32_t count = dense_ ? kDense : static_cast<std::uint32_t>(indexes_.size());
  std::memcpy(message.data(), &count, kWord);
  auto put = [&message, at = kWord](const auto& words) mutable {
    if (words.empty()) return;
    std::memcpy(message.subspan(at).data(), words.data(), kWord * words.size());
    at += kWord * words.size();
  };
  put(indexes_);
  put(values_);
}

SparseStream SparseStream::decode(std::span<const std::uint8_t> message, std::int64_t size) {
  SparseStream result(size);
  std::uint32_t count = 0;
  if (message.size() < kWord) {
    throw CommunicationError(
        fmt::format("sparse stream: a message of {} bytes; expected 4 or more", message.size()));
  }
  std::memcpy(&count, message.data(), kWord);
  result.dense_ = count == kDense;
  const std::uint64_t values = result.dense_ ? static_cast<std::uint64_t>(size) : count;
  const std::uint64_t expected = kWord * (1 + (result.dense_ ? 1 : 2) * values);  // below 2^36
  if (values > static_cast<std::uint64_t>(size) || message.size() != expected) {
    throw CommunicationError(fmt::format(
        "sparse stream: a message of {} bytes says that it holds {} of {} elements; expected {} "
        "bytes, and no more elements than there are",
        message.size(), values, size, expected));
  }
  auto take = [&message, at = kWord](auto& words, std::uint64_t number) mutable {
    words.resize(number);
    if (number == 0) return;
    std::memcpy(words.data(), message.subspan(at).data(), kWord * number);
    at += kWord * number;
  };
  if (!result.dense_) {
    take(result.indexes_, values);
    const std::size_t bad = first_bad_index(result.indexes_, size);
    if (bad < result.indexes_.size()) {
      throw CommunicationError(fmt::format(
          "sparse stream: a message has index {} at place {}, of {} elements; expected indexes to "
          "ascend, below the size",
          result.indexes_[bad], bad, size));
    }
  }
  take(result.values_, values);
  return result;
}

}  // namespace d5
