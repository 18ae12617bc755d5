// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace d5 {

/// A version MAJOR.MINOR.PATCH[-PRE.RELEASE][+BUILD], and its order: a pre-release stands before
/// its release, the build plays no part. Source: Semantic Versioning 2.0.0, semver.org.
struct SemanticVersion {
  std::array<std::int64_t, 3> numbers{};
  std::vector<std::string> pre_release = {};
  std::string build = {};

  /// As a manifest must write it: all three numbers, without leading zeros.
  /// Throws: FormatError with what was given and what is expected.
  [[nodiscard]] static SemanticVersion parse(const std::string& text);
  /// What a framework calls itself: "2.13.0+cpu", "2.14.0a0+git1234", "3.2". Missing numbers are 0,
  /// those behind the third are left out, and letters after a number begin a pre-release.
  /// Throws: FormatError where it begins with no number.
  [[nodiscard]] static SemanticVersion of_framework(const std::string& text);

  [[nodiscard]] std::weak_ordering operator<=>(const SemanticVersion& other) const;
  [[nodiscard]] bool operator==(const SemanticVersion& other) const {
    return std::is_eq(*this <=> other);
  }
};
[[nodiscard]] std::string to_string(const SemanticVersion& version);

/// Which versions will do: bounds that all hold, ">=2.4 <3", with >=, >, <=, < and =, and numbers
/// left out at the end for 0. Empty: any. A pre-release of a version below a bound "<3" is below it
/// only if it is below 3's own pre-releases, so that 3.0.0-rc.1 is no "<3".
///
///     VersionRange::parse(">=2.4 <3").holds(SemanticVersion::of_framework("2.13.0+cpu"))  // true
class VersionRange {
 public:
  /// Throws: FormatError for text that is no such range, and for one in which no version is.
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
