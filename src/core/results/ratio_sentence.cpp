// SPDX-License-Identifier: Apache-2.0
#include "d5/core/ratio_sentence.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/error.hpp"
#include "d5/core/framework.hpp"
#include "d5/core/ratio_summary.hpp"

namespace d5 {
namespace {

/// The times that one framework, or subject, took of the same base's.
struct Rival {
  std::string name, base;
  std::vector<JudgedRatio> ratios = {};
  [[nodiscard]] Estimate ratio() const {
    if (ratios.size() > 1) return summarise_ratios(ratios).mean;
    return {ratios.front().ratio, ratios.front().interval, 0.95};
  }
};

/// What is compared under the same circumstances.
struct Contest {
  std::string pass, device;
  std::vector<Rival> rivals = {};
};

/// "torch", "torch:script", "onednn+reference", "auto": a base that is another subject in the same
/// framework has that subject's name.
bool is_framework(const std::string& base) {
  const std::string name = base.substr(0, base.find_first_of(":+"));
  return name == "auto" || std::ranges::any_of(frameworks(), [&](const FrameworkInfo& one) {
           return one.name == name;
         });
}

std::vector<Contest> comparisons_in(const std::vector<Measurement>& measurements) {
  std::vector<Contest> all;
  for (const Measurement& m : measurements) {
    if (m.metric != "time_ratio" || m.samples.empty()) continue;
    const std::string pass = condition_of(m, "pass"), base = condition_of(m, "base");
    auto place = std::ranges::find_if(
        all, [&](const Contest& one) { return one.pass == pass && one.device == m.device; });
    if (place == all.end()) place = all.insert(place, {.pass = pass, .device = m.device});
    const std::string name = is_framework(base) ? m.framework : m.subject;
    auto rival = std::ranges::find_if(
        place->rivals, [&](const Rival& one) { return one.name == name && one.base == base; });
    if (rival == place->rivals.end()) {
      rival = place->rivals.insert(rival, {.name = name, .base = base});
    }
    const Estimate ratio = estimate(m);
    rival->ratios.push_back({ratio.value, ratio.interval, m.status == Status::mistrusted});
  }
  return all;
}

/// "forward: torch is ... (geometric mean of 3 cases); the fastest of 4; mistrusted".
std::string sentence_of(const Contest& contest, bool several_devices) {
  const auto fastest = std::ranges::min_element(
      contest.rivals, {}, [](const Rival& rival) { return rival.ratio().value; });
  std::string text;
  if (!contest.pass.empty()) text += printable(contest.pass) + ": ";
  if (several_devices) text += printable(contest.device) + ": ";
  text += ratio_sentence({fastest->base, fastest->name, fastest->ratio()});
  if (fastest->ratios.size() > 1) {
    text += fmt::format(" (geometric mean of {} cases)", fastest->ratios.size());
  }
  const Interval interval = fastest->ratio().interval;
  if (contest.rivals.size() > 1 && (interval.high < 1 || interval.low > 1)) {
    text += fmt::format(", and the fastest of {}", contest.rivals.size() + 1);
  }
  const auto mistrusted = std::ranges::count_if(fastest->ratios, &JudgedRatio::mistrusted);
  if (mistrusted > 0) {
    text += fastest->ratios.size() == 1
                ? "; this ratio is mistrusted"
                : fmt::format("; {} of these ratios are mistrusted", mistrusted);
  }
  return text;
}

}  // namespace

std::string ratio_sentence(const ComparedTimes& times) {
  const double value = times.ratio.value;
  const Interval interval = times.ratio.interval;
  const std::string first = printable(times.first), second = printable(times.second);
  if (!(interval.low > 1) && !(interval.high < 1)) {
    const bool known = interval.low <= interval.high;
    return fmt::format("{} and {} are equally fast as far as this tells: time ratio {:.3g}{}",
                       second, first, value,
                       known ? fmt::format(" [{:.3g}, {:.3g}]", interval.low, interval.high) : "");
  }
  const bool is_faster = interval.high < 1;  // the second
  const double times_as_fast = is_faster ? 1 / value : value;
  const double low = is_faster ? 1 / interval.high : interval.low;
  const double high = is_faster ? 1 / interval.low : interval.high;
  return fmt::format("{} is {:.3g} [{:.3g}, {:.3g}] times as fast as {}",
                     is_faster ? second : first, times_as_fast, low, high,
                     is_faster ? first : second);
}

std::vector<std::string> ratio_sentences(const std::vector<Measurement>& measurements) {
  const auto all = comparisons_in(measurements);
  const bool several_devices = std::ranges::any_of(
      all, [&](const Contest& one) { return one.device != all.front().device; });
  std::vector<std::string> sentences;
  for (const Contest& one : all) sentences.push_back(sentence_of(one, several_devices));
  return sentences;
}

}  // namespace d5
