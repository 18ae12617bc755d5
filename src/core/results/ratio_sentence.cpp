// SPDX-License-Identifier: Apache-2.0
#include "core/results/ratio_sentence.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/statistics/geometric_mean.hpp"

namespace d5::detail {
namespace {

Estimate joint_ratio(std::span<const JudgedRatio> ratios) {
  if (ratios.size() > 1) return summarise_ratios(ratios).mean;
  return {ratios.front().ratio, ratios.front().interval, 0.95};
}

/// Ratios of a framework's or subject's times to the base's.
struct Rival {
  std::string name, base;
  std::vector<JudgedRatio> ratios = {};
  [[nodiscard]] Estimate ratio() const { return joint_ratio(ratios); }
};

/// Rivals that are comparable: same pass, device and base.
struct Contest {
  std::string pass, device;
  std::vector<Rival> rivals = {};
};

/// "torch", "torch:script", "onednn+reference", "auto": otherwise the base is another subject in
/// the same framework, and has that subject's name.
bool is_framework(const std::string& base) {
  const std::string name = base.substr(0, base.find_first_of(":+"));
  return name == "auto" || name == "reference" ||
         std::ranges::any_of(frameworks(),
                             [&](const FrameworkInfo& one) { return one.name == name; });
}

std::vector<Contest> contests_in(const std::vector<Measurement>& measurements) {
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

/// "forward: torch is ... (this ratio is mistrusted), and the fastest of 4".
std::string sentence_of(const Contest& contest, bool several_devices) {
  const auto fastest = std::ranges::min_element(
      contest.rivals, {}, [](const Rival& rival) { return rival.ratio().value; });
  std::string text;
  if (!contest.pass.empty()) text += printable(contest.pass) + ": ";
  if (several_devices) text += printable(contest.device) + ": ";
  text += ratio_sentence(fastest->base, fastest->name, fastest->ratios);
  const Interval interval = fastest->ratio().interval;
  if (contest.rivals.size() > 1 && (interval.high < 1 || interval.low > 1)) {
    text += fmt::format(", and the fastest of {}", contest.rivals.size() + 1);
  }
  return text;
}

/// The sentence for a single ratio, or a mean.
std::string sentence_of(const std::string& first, const std::string& second,
                        const Estimate& ratio) {
  const Interval interval = ratio.interval;
  if (!(interval.low > 1) && !(interval.high < 1)) {
    constexpr double kAlike = 1.05;
    if (!(interval.low <= interval.high)) {
      return fmt::format(
          "{} or {} may be faster: the ratio of their times is {:.3g}, of too few "
          "samples for an interval",
          second, first, ratio.value);
    }
    const bool alike = interval.low >= 1 / kAlike && interval.high <= kAlike;
    return fmt::format("{} {} {} {}: the ratio of their times is {:.3g} [{:.3g}, {:.3g}]", second,
                       alike ? "and" : "or", first,
                       alike ? "are equally fast within 5%" : "may be faster", ratio.value,
                       interval.low, interval.high);
  }
  const bool is_faster = interval.high < 1;  // the second is faster
  const double times_as_fast = is_faster ? 1 / ratio.value : ratio.value;
  const double low = is_faster ? 1 / interval.high : interval.low;
  const double high = is_faster ? 1 / interval.low : interval.high;
  return fmt::format("{} is {:.3g} [{:.3g}, {:.3g}] times as fast as {}",
                     is_faster ? second : first, times_as_fast, low, high,
                     is_faster ? first : second);
}

}  // namespace

std::string ratio_sentence(const std::string& first, const std::string& second,
                           std::span<const JudgedRatio> ratios, std::string_view noun) {
  if (ratios.empty()) return "";
  const std::string a = printable(first), b = printable(second);
  const RatioSummary all = summarise_ratios(ratios);
  std::string text, remark;
  if (ratios.size() == 1 || ratios.size() >= kFewestForMeanInterval) {
    text = sentence_of(a, b, joint_ratio(ratios));
    if (ratios.size() > 1) remark = fmt::format("geometric mean of {} {}", ratios.size(), noun);
  } else {
    text = fmt::format("{} is faster than {} in {} of {} {} and slower in {}", b, a, all.faster,
                       ratios.size(), noun, all.slower);
  }
  if (all.mistrusted > 0) {
    if (!remark.empty()) remark += "; ";
    remark += ratios.size() == 1 ? "this ratio is mistrusted"
                                 : fmt::format("{} of these ratios {} mistrusted", all.mistrusted,
                                               all.mistrusted == 1 ? "is" : "are");
  }
  return remark.empty() ? text : fmt::format("{} ({})", text, remark);
}

std::vector<std::string> ratio_sentences(const std::vector<Measurement>& measurements) {
  const auto all = contests_in(measurements);
  const bool several_devices = std::ranges::any_of(
      all, [&](const Contest& one) { return one.device != all.front().device; });
  std::vector<std::string> sentences;
  for (const Contest& one : all) sentences.push_back(sentence_of(one, several_devices));
  return sentences;
}

}  // namespace d5::detail
