// SPDX-License-Identifier: Apache-2.0
#include "level1_network/source/size_refusal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "level1_network/source/size_search.hpp"

namespace d5 {
namespace {

/// Sizes of one dimension that fit, near a requested or found one.
struct NearSizes {
  std::int64_t nearest = 0;  ///< 0: none
  std::string words = {};    ///< "must be a multiple of 32", "must be 7 or more", ...
};

class NearSearch {
 public:
  NearSearch(const SizeTrial& trial, OpenSizes sizes, std::string name)
      : trial_(trial), sizes_(std::move(sizes)), name_(std::move(name)) {}

  [[nodiscard]] NearSizes near(std::int64_t asked) {
    constexpr std::size_t kEnough = 4;
    std::vector<std::int64_t> taken;
    for (std::int64_t size = asked; size <= asked + kFarthest && taken.size() < kEnough; ++size) {
      if (fits(size)) taken.push_back(size);
    }
    std::int64_t below = std::min(asked - 1, kFarthest);
    while (below > 0 && !fits(below)) --below;
    if (taken.empty() && below == 0) return {};
    if (taken.empty()) return {below, fmt::format("can be {}", below)};
    const bool below_is_near = below > 0 && asked - below < taken.front() - asked;
    const std::int64_t nearest = below_is_near ? below : taken.front();
    if (taken.size() == kEnough) {
      const std::int64_t step = taken[1] - taken[0];
      const bool is_even = taken[2] - taken[1] == step && taken[3] - taken[2] == step;
      if (is_even && step == 1 && below == 0 && all_from(taken[0])) {
        return {taken.front(), fmt::format("must be {} or more", taken.front())};
      }
      if (is_even && step > 1 && taken[0] % step == 0) {
        return {nearest, fmt::format("must be a multiple of {}", step)};
      }
      if (const std::int64_t power = power_of_multiples(asked); power > 0) {
        const std::int64_t above = (asked + power - 1) / power * power;
        const bool lower =
            above > power && asked - (above - power) < above - asked && fits(above - power);
        return {lower ? above - power : above, fmt::format("can be a multiple of {}", power)};
      }
    }
    return {nearest, fmt::format("can be {}", fmt::join(taken, ", "))};
  }

 private:
  static constexpr std::int64_t kFarthest = 256;

  bool fits(std::int64_t size) {
    sizes_.by_name[name_] = size;
    return trial_.fits(sizes_);
  }
  /// Whether a sample of the sizes from `least` on all fit.
  bool all_from(std::int64_t least) {
    for (std::int64_t further = 5; further <= kFarthest; further += 19) {
      if (!fits(least + further)) return false;
    }
    return true;
  }
  /// 0: none.
  std::int64_t power_of_multiples(std::int64_t asked) {
    for (std::int64_t power = 2; power <= kFarthest / 2; power *= 2) {
      const std::int64_t first = (asked + power - 1) / power;
      bool all = true;
      for (std::int64_t i = first; i < first + 4 && all; ++i) all = fits(i * power);
      if (all) return power;
    }
    return 0;
  }

  const SizeTrial& trial_;
  OpenSizes sizes_;
  std::string name_;
};

/// The message for sizes that the network refuses, with sizes that it accepts if there are any.
class SizeRefusal {
 public:
  SizeRefusal(const Network& network, const SizeTrial& trial, const OpenSizes& asked,
              const std::vector<OpenDim>& dims)
      : network_(network), trial_(trial), asked_(asked), dims_(dims) {
    for (const OpenDim& dim : dims) all_.push_back(dim.name);
  }

  [[noreturn]] void raise() const {
    for (const auto& [name, size] : asked_.by_name) raise_for(name, size);
    raise_for_all();
    trial_.renew();
    const auto found = SizeSearch(trial_, network_, {.batch = asked_.batch}, all_).smallest();
    if (!found) raise_without_way();
    std::vector<std::string> needs, ways;
    for (const auto& [name, size] : found->by_name) {
      needs.push_back(need(name, NearSearch(trial_, *found, name).near(size)));
      ways.push_back(way(name, size));
    }
    throw told(trial_.refusal(), needs, ways);
  }

 private:
  /// Reports a single dimension that is wrong.
  void raise_for(const std::string& name, std::int64_t size) const {
    trial_.renew();
    OpenSizes others = asked_;
    others.by_name.erase(name);
    if (!trial_.fits(others)) {
      std::vector<std::string> free;
      for (const OpenDim& dim : dims_) {
        if (!others.by_name.contains(dim.name) && !dim.is_first) free.push_back(dim.name);
      }
      const auto found = SizeSearch(trial_, network_, others, free).smallest();
      if (!found) return;
      others = *found;
    }
    const NearSizes near = NearSearch(trial_, others, name).near(size);
    if (near.nearest == 0) return;
    others.by_name[name] = size;
    const std::string why = trial_.refusal_with(others);
    throw told(why.empty() ? trial_.refusal() : why, {need(name, near)}, {way(name, near.nearest)});
  }
  /// Reports several wrong dimensions for which multiples of one number would fit.
  void raise_for_all() const {
    trial_.renew();
    for (std::int64_t power = 2; power <= 128 && asked_.by_name.size() > 1; power *= 2) {
      OpenSizes rounded = asked_;
      for (auto& [name, size] : rounded.by_name) size = (size + power - 1) / power * power;
      if (!trial_.fits(rounded)) continue;
      std::vector<std::string> needs, ways;
      for (const auto& [name, size] : rounded.by_name) {
        needs.push_back(fmt::format("{} can be a multiple of {}", printable(name), power));
        ways.push_back(way(name, size));
      }
      throw told(trial_.refusal(), needs, ways);
    }
  }
  [[noreturn]] void raise_without_way() const {
    throw ShapeError(
        fmt::format("{}; none of the sizes from {} to {} that d5 tried for {} fits the network "
                    "'{}': give sizes that do, {}, or an input, {}",
                    trial_.refusal(), SizeSearch::kLeast, SizeSearch::kMost, fmt::join(all_, ", "),
                    printable(network_.name()),
                    option_word("dim", printable(all_.front()) + "=SIZE"), own_input()));
  }

  static std::string need(const std::string& name, const NearSizes& near) {
    return fmt::format("{} {}", printable(name), near.words);
  }
  static std::string way(const std::string& name, std::int64_t size) {
    return option_word("dim", fmt::format("{}={}", printable(name), size));
  }
  [[nodiscard]] std::string own_input() const {
    return option_word("input", printable(dims_.front().places.front().first) + "=FILE.npy");
  }
  [[nodiscard]] ShapeError told(const std::string& why, const std::vector<std::string>& needs,
                                const std::vector<std::string>& ways) const {
    return ShapeError(fmt::format("{}; {}: {}, or give the input itself, {}", why,
                                  fmt::join(needs, " and "), fmt::join(ways, " "), own_input()));
  }

  const Network& network_;
  const SizeTrial& trial_;
  const OpenSizes& asked_;
  const std::vector<OpenDim>& dims_;
  std::vector<std::string> all_;
};

}  // namespace

void refuse_unfit_sizes(const Network& network, const SizeTrial& trial, const OpenSizes& asked,
                        const std::vector<OpenDim>& dims) {
  SizeRefusal(network, trial, asked, dims).raise();
}

}  // namespace d5
