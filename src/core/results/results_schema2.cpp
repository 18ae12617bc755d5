// SPDX-License-Identifier: Apache-2.0
// Roles of the conditions of schemas 1 and 2. The only list of condition names.
#include <algorithm>
#include <array>
#include <string_view>

#include "core/results/conditions_json.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/numbers/byte_count.hpp"

namespace d5::detail {
namespace {

constexpr std::array<std::string_view, 8> kSettings = {
    "loadgen", "pinning", "reference", "repetition", "round", "seed", "timer_slack", "waiting"};
// clang-format off
constexpr std::array<std::string_view, 63> kFindings = {
    "accepted", "agent", "alpha", "answers", "at", "because", "bootstrap interval", "bound",
    "bound_by", "bubble", "case", "chaos", "claimed", "compared", "converged", "declared",
    "drawn", "efficiency", "elements", "faster", "folder", "high", "ignored", "inputs",
    "interleaved", "judge", "judged samples", "jumps", "kernel", "kinks", "largest_chi_squared",
    "left_out", "loadgen_result", "loss_counts", "low", "mean", "mean_interval", "missed at",
    "mistrusted", "no float64", "nodes", "nodes before", "of", "olympic_mean", "place", "queue",
    "reference_mean", "reference_p", "runs", "seconds", "seeds", "slower", "stage_starts", "steady_from",
    "step threads", "steps", "tolerance", "tries", "undecided", "undefined places", "verdict",
    "waited for input", "waited for room"};
// clang-format on
constexpr std::array<std::string_view, 8> kAsides = {
    "absolute error", "bytes_sent",       "calls", "clock seconds taken off", "rank test p",
    "repetitions",    "share of the run", "warmup"};
/// Numbers of bytes, stored as text.
constexpr std::array<std::string_view, 3> kSizes = {"bytes", "memory limit", "size"};

bool is_in(const auto& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

Role role_of(std::string_view name) {
  if (is_in(kSettings, name)) return Role::setting;
  if (is_in(kFindings, name)) return Role::finding;
  // Names with a dot counted calls and bytes of one kind.
  const bool counts = name.find('.') != std::string_view::npos;
  return counts || is_in(kAsides, name) ? Role::aside : Role::identity;
}

}  // namespace

Condition condition_of_schema2(const std::string& name, const std::string& words) {
  if (is_in(kSizes, name)) {
    try {
      return {std::int64_t(byte_count(words)), Role::identity, "byte"};
    } catch (const ValueError&) {
      return {words, Role::identity};
    }
  }
  return {typed_value(words), role_of(name)};
}

}  // namespace d5::detail
