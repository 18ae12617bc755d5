// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/storage/example.hpp"

#include <fmt/format.h>

#include <cstring>

#include "d5/core/errors/error.hpp"
#include "level2_training/data/storage/little_endian.hpp"

namespace d5::detail {
namespace {

enum WireType : unsigned { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

/// A message, field by field.
class MessageReader {
 public:
  explicit MessageReader(std::string_view message) : message_(message) {}

  std::uint64_t number = 0;  ///< number of the field
  unsigned type = 0;
  std::uint64_t value = 0;  ///< value of a varint
  std::string_view bytes;   ///< content of every other type

  /// False at the end.
  bool next() {
    if (at_ == message_.size()) return false;
    const std::uint64_t tag = varint();
    number = tag >> 3;
    type = unsigned(tag & 7);
    switch (type) {
      case kVarint:
        value = varint();
        break;
      case kFixed64:
        take(8);
        break;
      case kLength:
        take(varint());
        break;
      case kFixed32:
        take(4);
        break;
      default:
        fail(fmt::format("field {} is of wire type {}, expected 0, 1, 2 or 5", number, type));
    }
    if (number == 0) fail("a field has the number 0");
    return true;
  }

  /// Reads the next of packed varints; `at_end` reports whether there is one.
  std::uint64_t varint() {
    std::uint64_t result = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == message_.size()) fail("it ends within a number");
      const auto byte = std::uint8_t(message_[at_++]);
      result |= std::uint64_t(byte & 0x7f) << shift;
      if (byte < 0x80) return result;
    }
    fail("a number has more than 10 bytes");
  }
  [[nodiscard]] bool at_end() const { return at_ == message_.size(); }

  [[noreturn]] void fail(const std::string& what) const {
    throw FormatError(fmt::format("byte {} of a message of {}: {}; it is not a tf.train.Example",
                                  at_, message_.size(), what));
  }

 private:
  void take(std::uint64_t count) {
    if (count > message_.size() - at_) {
      fail(fmt::format("field {} is declared to have {} bytes, but {} follow", number, count,
                       message_.size() - at_));
    }
    bytes = message_.substr(at_, std::size_t(count));
    at_ += std::size_t(count);
  }

  std::string_view message_;
  std::size_t at_ = 0;
};

/// Reads the values of a list: `one` is called for a value in a field of its own, `packed` for
/// packed values.
template <class One, class Packed>
void for_each_value(std::string_view list, WireType alone, const One& one, const Packed& packed) {
  MessageReader reader(list);
  while (reader.next()) {
    if (reader.number != 1) continue;
    if (reader.type == alone) {
      one(reader);
    } else if (reader.type == kLength) {
      packed(reader.bytes);
    } else {
      reader.fail("a value is of another type than its list");
    }
  }
}

void check_floats(std::string_view packed) {
  if (packed.size() % sizeof(float) != 0) {
    MessageReader(packed).fail("packed floats are not a multiple of 4 bytes");
  }
}

Feature feature_of(std::string_view name, std::string_view message) {
  Feature feature{name, Feature::Kind::none, {}};
  MessageReader reader(message);
  while (reader.next()) {
    if (reader.number > 3) continue;
    if (reader.type != kLength) reader.fail("a feature is not a list");
    feature.kind = Feature::Kind(reader.number);
    feature.list = reader.bytes;
  }
  return feature;
}

void append_varint(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to += char(value | 0x80);
  to += char(value);
}

/// Field `number` with those bytes.
void append_field(std::string& to, unsigned number, std::string_view bytes) {
  append_varint(to, number << 3 | kLength);
  append_varint(to, bytes.size());
  to += bytes;
}

}  // namespace

std::int64_t Feature::count() const {
  std::int64_t count = 0;
  const auto one = [&](const MessageReader&) { ++count; };
  switch (kind) {
    case Kind::none:
      break;
    case Kind::bytes:
      for_each_value(list, kLength, one, [](std::string_view) {});
      break;
    case Kind::floats:
      for_each_value(list, kFixed32, one, [&](std::string_view packed) {
        check_floats(packed);
        count += std::int64_t(packed.size() / sizeof(float));
      });
      break;
    case Kind::integers:
      for_each_value(list, kVarint, one, [&](std::string_view packed) {
        for (const char byte : packed) count += std::uint8_t(byte) < 0x80;
      });
  }
  return count;
}

void Feature::for_each_bytes(const std::function<void(std::string_view)>& visit) const {
  for_each_value(
      list, kLength, [&](const MessageReader& reader) { visit(reader.bytes); },
      [](std::string_view) {});
}

void Feature::read(float* to) const {
  const auto append = [&](std::string_view bytes) {
    check_floats(bytes);
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
    to += bytes.size() / sizeof(float);
  };
  for_each_value(
      list, kFixed32, [&](const MessageReader& reader) { append(reader.bytes); }, append);
}

void Feature::read(std::int64_t* to) const {
  for_each_value(
      list, kVarint, [&](const MessageReader& reader) { *to++ = std::int64_t(reader.value); },
      [&](std::string_view packed) {
        MessageReader numbers(packed);
        while (!numbers.at_end()) *to++ = std::int64_t(numbers.varint());
      });
}

void for_each_feature(std::string_view example, const std::function<void(const Feature&)>& visit) {
  MessageReader whole(example);
  while (whole.next()) {
    if (whole.number != 1) continue;
    if (whole.type != kLength) whole.fail("its features are not a message");
    MessageReader features(whole.bytes);
    while (features.next()) {
      if (features.number != 1) continue;
      if (features.type != kLength) features.fail("a feature is not a message");
      std::string_view name, value;
      MessageReader entry(features.bytes);
      while (entry.next()) {
        if (entry.type != kLength) entry.fail("a feature has no name or no value");
        if (entry.number == 1) name = entry.bytes;
        if (entry.number == 2) value = entry.bytes;
      }
      visit(feature_of(name, value));
    }
  }
}

void ExampleWriter::add(const std::string& name, Feature::Kind kind, const std::string& list) {
  std::string feature, entry;
  append_field(feature, unsigned(kind), list);
  append_field(entry, 1, name);
  append_field(entry, 2, feature);
  append_field(features_, 1, entry);
}

void ExampleWriter::add_bytes(const std::string& name, std::span<const std::string_view> values) {
  std::string list;
  for (const std::string_view value : values) append_field(list, 1, value);
  add(name, Feature::Kind::bytes, list);
}

void ExampleWriter::add_floats(const std::string& name, std::span<const float> values) {
  std::string list;
  if (!values.empty()) {
    append_field(list, 1, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }
  add(name, Feature::Kind::floats, list);
}

void ExampleWriter::add_integers(const std::string& name, std::span<const std::int64_t> values) {
  std::string packed, list;
  for (const std::int64_t value : values) append_varint(packed, std::uint64_t(value));
  if (!values.empty()) append_field(list, 1, packed);
  add(name, Feature::Kind::integers, list);
}

std::string ExampleWriter::take() {
  std::string example;
  append_field(example, 1, features_);
  features_.clear();
  return example;
}

}  // namespace d5::detail
