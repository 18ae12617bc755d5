// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace d5::detail {

/// N-grams by their tokens: from an n-gram, each token leads to one that is longer by it. Those
/// that only begin others have no column.
template <class Token>
class NGramTree {
 public:
  static constexpr std::int32_t kRoot = 0;  ///< no token yet
  static constexpr std::int32_t kNone = -1;

  /// False if it was there already.
  bool add(std::span<const Token> tokens, std::int64_t column) {
    std::int32_t place = kRoot;
    for (const Token& token : tokens) {
      const std::int32_t id =
          ids_.try_emplace(token, static_cast<std::int32_t>(ids_.size())).first->second;
      const auto [step, is_new] =
          steps_.try_emplace(key(place, id), static_cast<std::int32_t>(columns_.size()));
      if (is_new) columns_.push_back(kNone);
      place = step->second;
    }
    if (columns_[static_cast<std::size_t>(place)] != kNone) return false;
    columns_[static_cast<std::size_t>(place)] = column;
    return true;
  }

  /// The number that stands for a token; kNone for one that no n-gram has.
  template <class Given>
  [[nodiscard]] std::int32_t id(const Given& token) const {
    const auto found = ids_.find(token);
    return found == ids_.end() ? kNone : found->second;
  }
  /// Where `place` and one more token lead to, or kNone.
  [[nodiscard]] std::int32_t next(std::int32_t place, std::int32_t id) const {
    const auto found = steps_.find(key(place, id));
    return found == steps_.end() ? kNone : found->second;
  }
  [[nodiscard]] std::int64_t column(std::int32_t place) const {
    return columns_[static_cast<std::size_t>(place)];
  }

 private:
  static std::uint64_t key(std::int32_t place, std::int32_t id) {
    return std::uint64_t(std::uint32_t(place)) << 32 | std::uint32_t(id);
  }

  std::unordered_map<Token, std::int32_t> ids_;
  std::unordered_map<std::uint64_t, std::int32_t> steps_;
  std::vector<std::int64_t> columns_ = {kNone};
};

}  // namespace d5::detail
