// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>

namespace d5::detail {

/// Ranks that stand for others: member i for every rank r with r mod members = i.
///
/// A message from member i to rank p is, moved to the member like p, one from another rank: i moved
/// by as much. Rings and dissemination move by adding, the library's doubling by exchanging bits.
class FoldedRanks {
 public:
  FoldedRanks(int ranks, int members)
      : ranks_(ranks),
        members_(members),
        has_bits_(std::has_single_bit(static_cast<unsigned>(ranks)) &&
                  std::has_single_bit(static_cast<unsigned>(members))) {}

  [[nodiscard]] bool folds() const { return members_ < ranks_; }
  [[nodiscard]] int members() const { return members_; }
  [[nodiscard]] int member(int rank) const { return rank < members_ ? rank : rank % members_; }

  /// Whether a message that member `from` sends to rank `to` is one that the member like `to`
  /// expects from rank `expected`.
  [[nodiscard]] bool meets(int from, int to, int expected, bool is_librarys) const {
    if (!folds()) return from == expected;
    const int by = to - member(to), moved = from - by;
    return expected == (moved < 0 ? moved + ranks_ : moved) ||
           (is_librarys && has_bits_ && expected == (from ^ by));
  }

 private:
  int ranks_, members_;
  bool has_bits_;
};

}  // namespace d5::detail
