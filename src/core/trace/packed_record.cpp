// SPDX-License-Identifier: Apache-2.0
#include "core/trace/packed_record.hpp"

#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>
#include <variant>

namespace d5::detail {
namespace {

constexpr std::size_t kLongestText = 200;
constexpr std::uint8_t kMostArguments = 16;
constexpr std::string_view kCut = "...";
static_assert(kLongestText + kCut.size() <= std::numeric_limits<std::uint8_t>::max());

/// Type tag before an argument's value.
constexpr char kInteger = 'i', kReal = 'r', kText = 't';

/// Reads a body from its beginning.
class Body {
 public:
  explicit Body(const char* at) : at_(at) {}

  std::string_view text() {
    const auto size = number<std::uint8_t>();
    return {std::exchange(at_, at_ + size), size};
  }
  TraceArgument argument() {
    TraceArgument result{.name = std::string(text()), .value = {}};
    switch (number<char>()) {
      case kInteger:
        result.value = number<std::int64_t>();
        break;
      case kReal:
        result.value = number<double>();
        break;
      default:
        result.value = std::string(text());
    }
    return result;
  }

 private:
  template <class Number>
  Number number() {
    Number value;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  const char* at_;
};

}  // namespace

void PackedRecord::put(std::string_view text) {
  const bool cut = text.size() > kLongestText;
  if (cut) text = text.substr(0, kLongestText);
  body.push_back(static_cast<char>(text.size() + (cut ? kCut.size() : 0)));
  body.append(text);
  if (cut) body.append(kCut);
}

template <class Number>
void PackedRecord::put_number(char type, Number value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  body.push_back(type);
  body.append(bytes, sizeof value);
}

bool PackedRecord::put_argument_name(std::string_view name) {
  if (head.arguments == kMostArguments) return false;
  ++head.arguments;
  put(name);
  return true;
}

void PackedRecord::begin(std::string_view level, std::string_view name) {
  head = {};
  body.clear();
  put(level);
  put(name);
}

void PackedRecord::argument(std::string_view name, std::int64_t value) {
  if (put_argument_name(name)) put_number(kInteger, value);
}

void PackedRecord::argument(std::string_view name, double value) {
  if (put_argument_name(name)) put_number(kReal, value);
}

void PackedRecord::argument(std::string_view name, std::string_view value) {
  if (!put_argument_name(name)) return;
  body.push_back(kText);
  put(value);
}

void PackedRecord::pack(const TraceRecord& record) {
  begin(record.level, record.name);
  head.kind = record.kind;
  head.rank = record.rank;
  head.lane = record.lane;
  head.id = record.id;
  head.parent = record.parent;
  head.begin_ns = record.begin_ns;
  head.end_ns = record.end_ns;
  for (const auto& [name, value] : record.arguments) {
    std::visit([&, &its = name](const auto& one) { argument(its, one); }, value);
  }
}

std::string_view PackedRecord::level() const { return Body(body.data()).text(); }

TraceRecord unpacked(const PackedRecord::Head& head, const char* body) {
  Body rest(body);
  TraceRecord record{.kind = head.kind,
                     .rank = head.rank,
                     .lane = head.lane,
                     .id = head.id,
                     .parent = head.parent,
                     .begin_ns = head.begin_ns,
                     .end_ns = head.end_ns};
  record.level = rest.text();
  record.name = rest.text();
  record.arguments.reserve(head.arguments);
  for (int i = 0; i < head.arguments; ++i) record.arguments.push_back(rest.argument());
  return record;
}

}  // namespace d5::detail
