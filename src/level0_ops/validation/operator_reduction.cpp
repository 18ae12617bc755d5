// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/validation/operator_reduction.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "level0_ops/case/case_grammar.hpp"
#include "level0_ops/case/case_text.hpp"
#include "level0_ops/validation/complaint.hpp"
#include "level0_ops/validation/delta_debugging.hpp"

namespace d5 {
namespace {

using detail::CaseText;
using detail::InputText;

/// Result of a try.
struct CaseFinding {
  bool differs = false;
  std::string test = {}, words = {};
  bool is_answer = false;  ///< false for an error message or a crash
  double error = 0;        ///< error of an answer, relative to its largest number
};

CaseFinding first_failed(const std::vector<Measurement>& records) {
  for (const auto& record : records) {
    if (record.status != Status::failed) continue;
    const bool is_answer = record.conditions.contains("tensor");
    return {true, record.conditions.at("test").text(), record.reason, is_answer,
            is_answer && !record.samples.empty() ? record.samples.front() : 0};
  }
  return {};
}

/// Replaces `from` by `to` in a list of numbers with `separator`, such as "3x3".
std::string with_number(const std::string& text, char separator, std::int64_t from,
                        std::int64_t to) {
  std::vector<std::string> parts;
  for (const auto& part : detail::split({text, 0}, separator)) {
    const bool is_it = part.text == std::to_string(from);
    parts.push_back(is_it ? std::to_string(to) : std::string(part.text));
  }
  return fmt::format("{}", fmt::join(parts, std::string(1, separator)));
}

/// Replaces all sizes `from`, and equal numbers in attributes and integer inputs.
CaseText with_size(CaseText text, std::int64_t from, std::int64_t to) {
  for (InputText& input : text.inputs) {
    std::ranges::replace(input.sizes, from, to);
    std::ranges::replace(input.values, std::to_string(from), std::to_string(to));
  }
  for (auto& [name, value] : text.attributes) value = with_number(value, 'x', from, to);
  return text;
}

class CaseReduction {
 public:
  CaseReduction(const CaseLine& line, const CaseReductionOptions& options)
      : options_(options), check_(options.check), begin_(now_seconds()) {
    check_.frameworks.resize(1);
    check_.on_framework = {};
    result_.line = line;
  }

  ReducedCase run() {
    look_at_the_whole();
    if (whole_.differs) {
      try {
        text_ = detail::text_of_case(result_.line.line);
        while (make_smaller()) {
        }
        result_.is_smallest = true;
      } catch (const Interrupted&) {  // returns the smallest so far
      }
    }
    result_.seconds = now_seconds() - begin_;
    return std::move(result_);
  }

 private:
  static constexpr int kRuns = 3;

  void look_at_the_whole() {
    const double begun = now_seconds();
    for (int i = 0; i < kRuns; ++i) {
      const auto records = check_operator(result_.line, check_);
      check_.forward.interrupt.check("reduce");
      if (records.front().status == Status::unsupported) {
        throw Unsupported(records.front().reason);
      }
      const CaseFinding found = first_failed(records);
      if (i == 0) limit_tries(now_seconds() - begun);
      ++result_.runs;
      if (!found.differs) continue;
      ++result_.differing_runs;
      if (!whole_.differs) whole_ = found;
      if (!found.is_answer) break;  // possibly after a long time
    }
    if (!whole_.differs) return;
    result_.difference = whole_.words;
    result_.test = whole_.test;
    if (is_of_the_case(result_.line, whole_)) {
      throw ValueError(fmt::format("case '{}' is at fault, because the reference fails alike: {}",
                                   printable(result_.line.line), whole_.words));
    }
  }

  void limit_tries(double whole_seconds) {
    constexpr double kLeast = 10, kTimes = 10;
    double& most = check_.forward.isolation.most_seconds;
    most = std::min(most, std::max(kLeast, kTimes * whole_seconds));
  }

  /// Whether the reference fails with the same message as `found`.
  bool is_of_the_case(const CaseLine& line, const CaseFinding& found) const {
    if (found.is_answer || check_.frameworks.front() == "reference") return false;
    OperatorCheckOptions by_reference = check_;
    by_reference.frameworks = {"reference"};
    const CaseFinding other = first_failed(check_operator(line, by_reference));
    return other.differs && !other.is_answer && is_same_complaint(other.words, found.words);
  }

  /// Reduces once; returns whether anything became smaller.
  bool make_smaller() {
    const std::string before = detail::to_line(text_);
    // Expected values are valid only for these sizes and attributes.
    if (!text_.expected.empty()) {
      (void)still([](CaseText& text) { text.expected.clear(); });
    }
    if (!text_.expected.empty()) return false;
    drop_attributes();
    drop_inputs();
    drop_dimensions();
    shrink_sizes();
    drop_values();
    return detail::to_line(text_) != before;
  }

  void drop_attributes() {
    for (std::size_t i = text_.attributes.size(); i-- > 0;) {
      const auto drop = [&](CaseText& text) {
        text.attributes.erase(text.attributes.begin() + std::ptrdiff_t(i));
      };
      if (still(drop)) continue;
      // An attribute that divides a size, as `group` divides channels, is reduced with it.
      const std::string& value = text_.attributes[i].second;
      const bool is_number =
          value.size() < 10 && value.find_first_not_of("0123456789") == value.npos;
      const std::int64_t divisor = is_number && !value.empty() ? std::stoll(value) : 0;
      for (const std::int64_t size : sizes()) {
        if (divisor < 2 || size % divisor != 0) continue;
        const bool gone = still([&](CaseText& text) {
          drop(text);
          text = with_size(std::move(text), size, size / divisor);
        });
        if (gone) break;
      }
    }
  }

  void drop_inputs() {
    for (std::size_t i = text_.inputs.size(); i-- > 0;) {
      const bool gone = still(
          [&](CaseText& text) { text.inputs.erase(text.inputs.begin() + std::ptrdiff_t(i)); });
      if (!gone && !text_.inputs[i].left_out) {
        (void)still([&](CaseText& text) {
          text.inputs[i] = {};
          text.inputs[i].left_out = true;
        });
      }
    }
  }

  /// Drops a dimension of all inputs, or of a single one.
  void drop_dimensions() {
    const auto drop = [](InputText& input, std::size_t axis) {
      if (axis < input.sizes.size()) input.sizes.erase(input.sizes.begin() + std::ptrdiff_t(axis));
    };
    for (std::size_t axis = most_rank(); axis-- > 0;) {
      const bool gone = still([&](CaseText& text) {
        for (auto& input : text.inputs) drop(input, axis);
      });
      if (gone) continue;
      for (std::size_t i = 0; i < text_.inputs.size(); ++i) {
        (void)still([&](CaseText& text) { drop(text.inputs[i], axis); });
      }
    }
  }

  [[nodiscard]] std::size_t most_rank() const {
    std::size_t most = 0;
    for (const auto& input : text_.inputs) most = std::max(most, input.sizes.size());
    return most;
  }

  /// The distinct sizes, largest first.
  [[nodiscard]] std::set<std::int64_t, std::greater<>> sizes() const {
    std::set<std::int64_t, std::greater<>> all;
    for (const auto& input : text_.inputs) all.insert(input.sizes.begin(), input.sizes.end());
    return all;
  }

  /// Shrinks all sizes `size`, and those `times` as large, while the difference persists.
  void shrink_size(std::int64_t size, std::int64_t times) {
    std::int64_t now = size;
    (void)least_failing(size, [&](std::int64_t smaller) {
      const bool same = still([&](CaseText& text) {
        if (times > 1) text = with_size(std::move(text), now * times, smaller * times);
        text = with_size(std::move(text), now, smaller);
      });
      if (same) now = smaller;
      return same;
    });
  }

  void shrink_sizes() {
    for (const std::int64_t size : sizes()) shrink_size(size, 1);
    for (const std::int64_t larger : sizes()) {
      for (const std::int64_t size : sizes()) {
        if (size > 1 && size < larger && larger % size == 0) shrink_size(size, larger / size);
      }
    }
    for (std::size_t i = 0; i < text_.inputs.size(); ++i) {
      for (std::size_t axis = 0; axis < text_.inputs[i].sizes.size(); ++axis) {
        const auto alone = [&](std::int64_t smaller) {
          return still([&](CaseText& text) { text.inputs[i].sizes[axis] = smaller; });
        };
        const std::int64_t size = text_.inputs[i].sizes[axis];
        if (size > 1 && alone(size - 1)) (void)least_failing(size - 1, alone);
      }
    }
  }

  /// Drops values of lists without a given shape.
  void drop_values() {
    for (std::size_t i = 0; i < text_.inputs.size(); ++i) {
      const InputText& input = text_.inputs[i];
      if (!input.has_values || input.has_sizes || input.values.size() < 2) continue;
      (void)smallest_failing(input.values, [&](const std::vector<std::string>& some) {
        return still([&](CaseText& text) { text.inputs[i].values = some; });
      });
    }
  }

  /// Applies `change`, and keeps it if the difference persists; returns whether it does. Throws:
  /// Interrupted.
  template <class Change>
  bool still(const Change& change) {
    CaseText text = text_;
    change(text);
    const std::string line = detail::to_line(text);
    if (line == result_.line.line || known_.contains(line)) return false;
    if (!differs(line)) {
      known_.insert(line);
      return false;
    }
    text_ = std::move(text);
    return true;
  }

  bool differs(const std::string& line) {
    check_.forward.interrupt.check("reduce");
    if (now_seconds() - begin_ > options_.most_seconds) throw Interrupted("reduce: time is over");
    const bool comes_and_goes = result_.differing_runs < result_.runs;
    for (int i = 0; i < (comes_and_goes ? kRuns : 1); ++i) {
      ++result_.tries;
      const bool same = looks_the_same(line);
      if (options_.on_try) {
        options_.on_try({result_.line.line, result_.tries, now_seconds() - begin_});
      }
      if (same) return true;
    }
    return false;
  }

  bool looks_the_same(const std::string& line) {
    constexpr double kAsBad = 64;
    try {
      const CaseLine smaller = read_case(line, result_.line.seed);
      const CaseFinding found = first_failed(check_operator(smaller, check_));
      check_.forward.interrupt.check("reduce");
      if (!found.differs || found.test != whole_.test || found.is_answer != whole_.is_answer) {
        return false;
      }
      const bool same = found.is_answer ? !(found.error < whole_.error / kAsBad)
                                        : is_same_complaint(found.words, whole_.words) &&
                                              !is_of_the_case(smaller, found);
      if (!same) return false;
      result_.line = smaller;
      result_.difference = found.words;
      return true;
    } catch (const Interrupted&) {
      throw;
    } catch (const Error&) {  // not a valid case
      return false;
    }
  }

  const CaseReductionOptions& options_;
  OperatorCheckOptions check_;
  const double begin_;
  CaseFinding whole_;
  CaseText text_;
  std::set<std::string> known_;  ///< lines without a difference
  ReducedCase result_;
};

}  // namespace

ReducedCase reduce_case(const CaseLine& line, const CaseReductionOptions& options) {
  if (options.check.frameworks.empty()) throw ValueError("reduce_case: there is no framework");
  return CaseReduction(line, options).run();
}

}  // namespace d5
