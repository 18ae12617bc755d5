// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace d5 {

/// A version MAJOR.MINOR.PATCH[-PRE.RELEASE][+BUILD], and its order: a pre-release comes before its
/// release, the build is ignored. Source: Semantic Versioning 2.0.0, semver.org.
struct SemanticVersion {
  std::array<std::int64_t, 3> numbers{};
  std::vector<std::string> pre_release = {};
  std::string build = {};

  /// Parses a manifest's version strictly: all three numbers, without leading zeros. Throws:
  /// FormatError with the given and the expected form.
  [[nodiscard]] static SemanticVersion parse(const std::string& text);
  /// Parses a framework's own version: "2.13.0+cpu", "2.14.0a0+git1234", "3.2". Missing numbers are
  /// 0, numbers after the third are ignored, and letters after a number begin a pre-release.
  /// Throws: FormatError if it does not begin with a number.
  [[nodiscard]] static SemanticVersion of_framework(const std::string& text);

  [[nodiscard]] std::weak_ordering operator<=>(const SemanticVersion& other) const;
  [[nodiscard]] bool operator==(const SemanticVersion& other) const {
    return std::is_eq(*this <=> other);
  }
};
[[nodiscard]] std::string to_string(const SemanticVersion& version);

/// A range of versions: bounds that all hold, ">=2.4 <3", with >=, >, <=, < and =; numbers left out
/// at the end are 0. Empty: any. A pre-release is below a bound "<3" only if it is below 3's own
/// pre-releases, so 3.0.0-rc.1 does not satisfy "<3".
///
///     VersionRange::parse(">=2.4 <3").holds(SemanticVersion::of_framework("2.13.0+cpu"))  // true
class VersionRange {
 public:
  /// Throws: FormatError for other text, and for an empty range.
  [[nodiscard]] static VersionRange parse(const std::string& text);
  [[nodiscard]] bool holds(const SemanticVersion& version) const;
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  struct Bound {
    std::string sign;
    SemanticVersion version;
  };
  std::string text_;
  std::vector<Bound> bounds_;
};

}  // namespace d5
