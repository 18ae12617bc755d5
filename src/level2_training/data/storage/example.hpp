// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace d5::detail {

/// A `tf.train.Example`: named lists of bytes, floats or integers, in protobuf's wire format,
/// parsed in place:
///
///     Example { Features features = 1; }         Features { map<string, Feature> feature = 1; }
///     Feature { BytesList | FloatList | Int64List = 1 | 2 | 3; }   each { repeated value = 1; }
///
/// Source: tensorflow/core/example/{example,feature}.proto; protobuf, "Encoding".
struct Feature {
  enum class Kind { none, bytes, floats, integers };
  std::string_view name;
  Kind kind = Kind::none;
  std::string_view list;  ///< the message of the list

  /// Throws, like the others: FormatError with the position in the list.
  [[nodiscard]] std::int64_t count() const;
  void for_each_bytes(const std::function<void(std::string_view)>& visit) const;
  /// Writes `count()` values.
  void read(float* to) const;
  void read(std::int64_t* to) const;
};

/// Throws: FormatError with the position of the fault.
void for_each_feature(std::string_view example, const std::function<void(const Feature&)>& visit);

/// Makes an Example.
class ExampleWriter {
 public:
  void add_bytes(const std::string& name, std::span<const std::string_view> values);
  void add_floats(const std::string& name, std::span<const float> values);
  void add_integers(const std::string& name, std::span<const std::int64_t> values);
  /// Returns the message and resets the writer.
  [[nodiscard]] std::string take();

 private:
  void add(const std::string& name, Feature::Kind kind, const std::string& list);
  std::string features_;
};

}  // namespace d5::detail
