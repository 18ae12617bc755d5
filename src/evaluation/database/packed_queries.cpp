// SPDX-License-Identifier: Apache-2.0
#include "evaluation/database/packed_queries.hpp"

#include <algorithm>
#include <cstdint>

#include "core/results/record_words.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

/// LEB128 of the zigzag code: numbers near 0 take a byte, whatever their sign (as in Protocol
/// Buffers' sint64).
void put(std::string& bytes, std::uint64_t difference) {
  const auto as_signed = static_cast<std::int64_t>(difference);
  std::uint64_t code = (difference << 1) ^ static_cast<std::uint64_t>(as_signed >> 63);
  for (; code >= 0x80; code >>= 7) bytes += static_cast<char>(code | 0x80);
  bytes += static_cast<char>(code);
}

[[noreturn]] void fail() {
  throw FormatError("database: a block of queries is damaged; its run has to be made again");
}

std::uint64_t take(std::string_view& bytes) {
  std::uint64_t code = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    code |= std::uint64_t(byte & 0x7F) << shift;
    if (byte < 0x80) return (code >> 1) ^ (0 - (code & 1));
  }
  fail();
}

/// Calls `column(field, base)` for each column of times and numbers, in the order of the format.
/// `base` is the number from which the difference is taken: of the query before, or of the same
/// query.
template <class Column>
void for_each_column(const Column& column) {
  using Q = QueryRecord;
  column([](Q& q) -> auto& { return q.id; }, [](const Q& before, const Q&) { return before.id; });
  column([](Q& q) -> auto& { return q.sample; },
         [](const Q& before, const Q&) { return before.sample; });
  column([](Q& q) -> auto& { return q.scheduled; },
         [](const Q& before, const Q&) { return before.scheduled; });
  column([](Q& q) -> auto& { return q.issued; }, [](const Q&, const Q& q) { return q.scheduled; });
  column([](Q& q) -> auto& { return q.begun; }, [](const Q&, const Q& q) { return q.issued; });
  column([](Q& q) -> auto& { return q.ended; }, [](const Q&, const Q& q) { return q.begun; });
}

/// The columns of generated answers. A block without any has none.
template <class Column>
void for_each_token_column(const Column& column) {
  using Q = QueryRecord;
  column([](Q& q) -> auto& { return q.first; }, [](const Q&, const Q& q) { return q.begun; });
  column([](Q& q) -> auto& { return q.answered; }, [](const Q&, const Q& q) { return q.first; });
  column([](Q& q) -> auto& { return q.tokens; },
         [](const Q& before, const Q&) { return before.tokens; });
}

bool has_tokens(const QueryRecord& record) {
  return record.first != 0 || record.answered != 0 || record.tokens != 0;
}

}  // namespace

std::string pack_queries(std::span<const QueryRecord> records) {
  std::string bytes;
  bytes.reserve(16 * records.size());
  const auto column = [&](const auto& field, const auto& base) {
    QueryRecord before{};
    for (QueryRecord record : records) {
      put(bytes, std::uint64_t(field(record)) - std::uint64_t(base(before, record)));
      before = record;
    }
  };
  for_each_column(column);
  std::int64_t before = 0;
  for (const QueryRecord& record : records) {
    put(bytes, std::uint64_t(record.batch) - std::uint64_t(before));
    before = record.batch;
  }
  if (std::ranges::any_of(records, has_tokens)) for_each_token_column(column);
  for (const QueryRecord& record : records) bytes += static_cast<char>(record.status);
  return bytes;
}

void unpack_queries(std::string_view bytes, std::size_t count, std::vector<QueryRecord>& records) {
  if (count > bytes.size()) fail();  // each query takes more than a byte
  const std::size_t first = records.size();
  records.resize(first + count);
  const std::span<QueryRecord> fresh = std::span(records).subspan(first);
  const auto column = [&](const auto& field, const auto& base) {
    QueryRecord before{};
    for (QueryRecord& record : fresh) {
      field(record) = std::int64_t(take(bytes) + std::uint64_t(base(before, record)));
      before = record;
    }
  };
  for_each_column(column);
  std::int64_t before = 0;
  for (QueryRecord& record : fresh) {
    before = std::int64_t(take(bytes) + std::uint64_t(before));
    record.batch = static_cast<std::int32_t>(before);
  }
  if (bytes.size() > count) for_each_token_column(column);
  if (bytes.size() != count) fail();
  for (std::size_t i = 0; i < count; ++i) {
    const auto status = static_cast<unsigned char>(bytes[i]);
    if (status >= kStatuses.size()) fail();
    fresh[i].status = Status(status);
  }
}

}  // namespace d5::detail
