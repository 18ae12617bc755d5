// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/tokenizer/word_merger.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

namespace d5::detail {
namespace {

constexpr std::int32_t kNoMerge = -1;
constexpr std::uint32_t kNoSymbol = std::numeric_limits<std::uint32_t>::max();

}  // namespace

WordMerger::WordMerger(const ByteTokens& bytes, const std::vector<TokenMerge>& merges)
    : bytes_(bytes) {
  std::vector<std::int32_t> order(merges.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::int32_t rank) {
    return std::pair(merges[std::size_t(rank)].left, merges[std::size_t(rank)].right);
  });
  begins_.push_back(0);
  for (const std::int32_t rank : order) {
    const auto& [left, right, result] = merges[std::size_t(rank)];
    begins_.resize(std::size_t(left) + 1, merges_.size());
    merges_.push_back({right, rank, result});
  }
  begins_.push_back(merges_.size());
}

const WordMerger::RankedMerge* WordMerger::find(std::int32_t left, std::int32_t right) const {
  if (std::size_t(left) + 1 >= begins_.size()) return nullptr;
  const auto begin = merges_.begin() + std::ptrdiff_t(begins_[std::size_t(left)]);
  const auto end = merges_.begin() + std::ptrdiff_t(begins_[std::size_t(left) + 1]);
  const auto found = std::ranges::lower_bound(begin, end, right, {}, &RankedMerge::right);
  return found != end && found->right == right ? &*found : nullptr;
}

void WordMerger::begin(std::string_view word, Memory& memory) const {
  memory.symbols_.clear();
  memory.queue_.clear();
  for (const char byte : word) {
    std::int32_t token = bytes_.of[static_cast<unsigned char>(byte)];
    if (token == ByteTokens::kNone) {
      if (bytes_.unknown == ByteTokens::kNone) continue;
      const bool is_joined = bytes_.joins_unknown && !memory.symbols_.empty() &&
                             memory.symbols_.back().token == bytes_.unknown;
      if (is_joined) continue;
      token = bytes_.unknown;
    }
    const auto place = std::uint32_t(memory.symbols_.size());
    memory.symbols_.push_back({token, kNoMerge, 0, place - 1, place + 1});
  }
  if (!memory.symbols_.empty()) memory.symbols_.back().next = kNoSymbol;
}

/// Notes the merge of a symbol and the next one.
void WordMerger::rank(std::uint32_t place, Memory& memory) const {
  Memory::Symbol& symbol = memory.symbols_[place];
  symbol.rank = kNoMerge;
  if (symbol.next == kNoSymbol) return;
  const RankedMerge* const found = find(symbol.token, memory.symbols_[symbol.next].token);
  if (!found) return;
  symbol.rank = found->rank;
  symbol.result = found->result;
  memory.queue_.push_back(std::uint64_t(found->rank) << 32U | place);
  std::ranges::push_heap(memory.queue_, std::greater());
}

/// Merges a symbol with the next one, which is then in no list.
void WordMerger::join(std::uint32_t place, Memory& memory) const {
  Memory::Symbol& symbol = memory.symbols_[place];
  Memory::Symbol& next = memory.symbols_[symbol.next];
  symbol.token = symbol.result;
  symbol.next = next.next;
  next.rank = kNoMerge;
  if (symbol.next != kNoSymbol) memory.symbols_[symbol.next].before = place;
  rank(place, memory);
  if (symbol.before != kNoSymbol) rank(symbol.before, memory);
}

void WordMerger::merge(std::string_view word, Memory& memory, std::vector<TokenId>& ids) const {
  begin(word, memory);
  for (std::uint32_t place = 0; place + 1 < memory.symbols_.size(); ++place) rank(place, memory);
  while (!memory.queue_.empty()) {
    std::ranges::pop_heap(memory.queue_, std::greater());
    const std::uint64_t first = memory.queue_.back();
    memory.queue_.pop_back();
    const auto place = std::uint32_t(first);
    const bool is_current = memory.symbols_[place].rank == std::int32_t(first >> 32U);
    if (is_current) join(place, memory);
  }
  if (memory.symbols_.empty()) return;
  for (std::uint32_t place = 0; place != kNoSymbol; place = memory.symbols_[place].next) {
    ids.push_back(memory.symbols_[place].token);
  }
}

}  // namespace d5::detail
