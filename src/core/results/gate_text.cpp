// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "core/results/result_notes.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/results/gate.hpp"

namespace d5 {
namespace {

using Answer = GateFinding::Answer;

/// Findings of one case that say the same.
struct Line {
  Answer answer = Answer::held;
  std::string subject = {}, reason = {};
  std::vector<std::string> metrics = {};
  std::set<std::size_t> doubts = {};  ///< numbers of notes; empty: `reason` is printed
};

/// "A is mistrusted: it drifts; it is busy" as two reasons, each with its side; empty for another
/// reason.
std::vector<std::string> doubts_of(std::string_view reason) {
  constexpr std::string_view kMistrusted = " is mistrusted: ";
  std::vector<std::string> doubts = detail::reasons_in(reason);
  std::string side;
  for (std::string& one : doubts) {
    if (!one.empty() && one.substr(1).starts_with(kMistrusted)) {
      side = one.substr(0, 1 + kMistrusted.size());
    } else {
      if (side.empty()) return {};
      one.insert(0, side);
    }
  }
  return doubts;
}

/// The subject without the metric.
std::string case_of(const GateFinding& finding) {
  std::string subject = finding.subject;
  if (!finding.metric.empty() && subject.ends_with(' ' + finding.metric)) {
    subject.resize(subject.size() - finding.metric.size() - 1);
  }
  return subject;
}

std::string text_of(const Line& line) {
  std::string subject = line.subject;
  if (!line.metrics.empty()) subject += fmt::format(" {}", fmt::join(line.metrics, ", "));
  return fmt::format(
      "{}: {}: {}", line.answer == Answer::broken ? "failed" : "cannot tell", subject,
      line.doubts.empty() ? printable_message(line.reason)
                          : fmt::format("mistrusted [{}]", fmt::join(line.doubts, ",")));
}

}  // namespace

GateText text_of(const std::vector<GateFinding>& findings) {
  const auto is_held = [](const GateFinding& one) { return one.answer == Answer::held; };
  const bool alone = findings.size() - std::size_t(std::ranges::count_if(findings, is_held)) == 1;
  detail::ResultNotes notes;
  std::vector<Line> lines;
  for (const GateFinding& finding : findings) {
    if (is_held(finding)) continue;
    Line line{.answer = finding.answer, .subject = case_of(finding), .reason = finding.reason};
    if (!alone) {
      for (const auto& doubt : doubts_of(finding.reason))
        line.doubts.insert(notes.number_of(doubt));
    }
    auto place = std::ranges::find_if(lines, [&](const Line& other) {
      return other.answer == line.answer && other.subject == line.subject &&
             other.doubts.empty() == line.doubts.empty() &&
             (!line.doubts.empty() || other.reason == line.reason);
    });
    if (place == lines.end()) place = lines.insert(place, line);
    if (!finding.metric.empty()) place->metrics.push_back(finding.metric);
    place->doubts.merge(line.doubts);
  }
  GateText text;
  for (const Line& line : lines) text.findings.push_back(text_of(line));
  for (const std::string& reason : notes.reasons()) {
    text.notes.push_back(fmt::format("[{}] {}", text.notes.size() + 1, reason));
  }
  return text;
}

}  // namespace d5
