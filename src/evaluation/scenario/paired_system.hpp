// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "d5/evaluation/load/scenario.hpp"

namespace d5::detail {

/// A scenario that asks a `PairedSystem`, and no other.
class PairedScenario : public Scenario {};

/// Two systems with the same samples as one: query 2i asks the base for the i-th drawn sample,
/// query 2i + 1 the subject for the same.
class PairedSystem final : public SystemUnderTest {
 public:
  struct Side {
    SystemUnderTest& system;
    std::string name;
  };
  static constexpr std::int64_t kBase = 0, kSubject = 1;

  /// Both outlive it. Throws: ValueError if they have different numbers of samples.
  PairedSystem(Side base, Side subject);
  ~PairedSystem() override;

  /// Draws `count` samples, with repetition, which stay the same until the next call.
  void draw(std::int64_t count, std::uint64_t seed);
  [[nodiscard]] const std::string& name_of(std::int64_t side) const {
    return sides_[std::size_t(side)].name;
  }
  /// Number in the data set of the sample that a query asks for.
  [[nodiscard]] std::int64_t sample_of(std::int64_t query) const {
    return drawn_[std::size_t(query / 2)];
  }

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::int64_t samples() const override { return 2 * std::int64_t(drawn_.size()); }
  void load(std::span<const std::int64_t> samples) override;
  void unload() override;
  void issue(std::span<const Query> queries) override;
  void flush() override;
  /// What either says, with its name before it; conditions are each system's own, and left out.
  [[nodiscard]] SystemReport report() override;

 private:
  std::array<Side, 2> sides_;
  std::vector<std::int64_t> drawn_;
};

}  // namespace d5::detail
