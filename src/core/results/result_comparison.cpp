// SPDX-License-Identifier: Apache-2.0
#include "d5/core/results/result_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "core/results/record_estimate.hpp"

namespace d5 {
namespace {

/// The record's value of `name`: its level, its framework or a condition.
std::string word_of(const Measurement& m, const std::string& name) {
  if (name == "level") return m.level;
  if (name == "framework") return m.framework;
  const auto place = m.conditions.find(name);
  return place == m.conditions.end() ? "" : place->second.exact();
}

/// A time counts only if the answers were right; an accuracy below its bound is a value, too.
bool comparable(const Measurement& m) {
  const bool is_of_answers = m.quantity == Quantity::accuracy || m.quantity == Quantity::loss;
  return !m.samples.empty() && (m.status == Status::passed || m.status == Status::mistrusted ||
                                (m.status == Status::failed && is_of_answers));
}

using Names = std::set<std::string, std::less<>>;

Names names_with(Role role, const Results& results) {
  Names names;
  for (const auto& m : results.measurements) {
    for (const auto& [name, condition] : m.conditions) {
      if (condition.role == role) names.insert(name);
    }
  }
  return names;
}

/// Names in which two records must agree to be compared.
struct Compared {
  /// Level, framework, and the identities of either file.
  Names identities;
  /// The common settings of both files; a setting that one lacks does not distinguish records.
  Names settings;
  Names only_in_a, only_in_b;  ///< identities
};

/// The set difference of `names` and `others`.
Names without(const Names& names, const Names& others) {
  Names left;
  std::ranges::set_difference(names, others, std::inserter(left, left.end()));
  return left;
}

Compared compared(const Results& a, const Results& b) {
  const Names in_a = names_with(Role::identity, a), in_b = names_with(Role::identity, b);
  Compared names{.identities = in_a,
                 .settings = {},
                 .only_in_a = without(in_a, in_b),
                 .only_in_b = without(in_b, in_a)};
  names.identities.insert(in_b.begin(), in_b.end());
  names.identities.insert({"level", "framework"});
  std::ranges::set_intersection(names_with(Role::setting, a), names_with(Role::setting, b),
                                std::inserter(names.settings, names.settings.end()));
  return names;
}

/// The value in all records that can be compared and for which `counts` holds; nothing if there are
/// several.
template <class Counts>
std::optional<std::string> only_value(const Results& results, const std::string& name,
                                      const Counts& counts) {
  std::optional<std::string> value;
  for (const auto& m : results.measurements) {
    if (!comparable(m) || !counts(m)) continue;
    if (value && *value != word_of(m, name)) return {};
    value = word_of(m, name);
  }
  return value;
}

/// Adds `name` if all records of `a` have one value of it, and all of `b` another.
template <class Counts>
void add_difference(std::vector<ResultDifference>& differences, const std::string& name,
                    const Results& a, const Results& b, const Counts& counts) {
  const auto in_a = only_value(a, name, counts), in_b = only_value(b, name, counts);
  if (in_a && in_b && *in_a != *in_b) differences.push_back({name, *in_a, *in_b});
}

std::vector<ResultDifference> differences_in(const Compared& names, const Results& a,
                                             const Results& b) {
  std::vector<ResultDifference> result;
  for (const std::string& name : names.identities) {
    add_difference(result, name, a, b, [](const Measurement&) { return true; });
  }
  for (const std::string& name : names.settings) {
    add_difference(result, name, a, b,
                   [&](const Measurement& m) { return m.conditions.contains(name); });
  }
  return result;
}

/// Identifies a case: records of the same case have equal keys.
class CaseKey {
 public:
  CaseKey(const Results& a, const Results& b) : names_(compared(a, b)) {
    for (const auto& difference : differences_in(names_, a, b)) {
      names_.identities.erase(difference.name);
      names_.settings.erase(difference.name);
    }
    drop_what_follows(names_.only_in_a, a);
    drop_what_follows(names_.only_in_b, b);
  }
  [[nodiscard]] std::string of(const Measurement& m) const {
    std::string key = m.subject + '\n' + m.metric + '\n' + m.unit + '\n' + to_string(m.statistic);
    for (const Names* names : {&names_.identities, &names_.settings}) {
      for (const std::string& name : *names) key += '\n' + word_of(m, name);
    }
    return key;
  }

 private:
  /// Drops identities that only one file has and that are determined by its others, such as sweep
  /// variables (`for`), which follow from the shapes.
  void drop_what_follows(const Names& only_here, const Results& results) {
    for (const std::string& name : only_here) {
      if (names_.identities.erase(name) == 0) continue;
      std::map<std::string, std::string> values;
      for (const auto& m : results.measurements) {
        const auto [place, fresh] = values.try_emplace(of(m), word_of(m, name));
        if (fresh || place->second == word_of(m, name)) continue;
        names_.identities.insert(name);
        break;
      }
    }
  }

  Compared names_;
};

/// Records of `b` by case. Each is returned once before any is repeated.
class Partners {
 public:
  Partners(const Results& a, const Results& b) : key_(a, b) {
    for (const auto& m : b.measurements) {
      auto& same = of_case_[key_.of(m)].records;
      // If any is comparable, the others are dropped.
      if (!same.empty() && comparable(m) && !comparable(*same.front())) same.clear();
      if (same.empty() || comparable(m) == comparable(*same.front())) same.push_back(&m);
    }
  }
  /// The next partner, or null.
  [[nodiscard]] const Measurement* next(const Measurement& m) {
    const auto place = of_case_.find(key_.of(m));
    if (place == of_case_.end()) return nullptr;
    auto& [records, given] = place->second;
    return records[given++ % records.size()];
  }

 private:
  struct Case {
    std::vector<const Measurement*> records = {};
    std::size_t given = 0;
  };
  CaseKey key_;
  std::map<std::string, Case> of_case_;
};

/// 0 / 0 is 1.
double quotient(double b, double a) { return a == b ? 1 : b / a; }

bool counted_once(const Measurement& m) {
  return m.statistic.of == Statistic::Of::single &&
         (m.quantity == Quantity::bytes || m.quantity == Quantity::count);
}

ResultPair make_pair_of(const Measurement& a, const Measurement& b) {
  constexpr double kConfidenceOfEach = 0.975;
  const Estimate of_a = detail::estimate_at(a, kConfidenceOfEach);
  const Estimate of_b = detail::estimate_at(b, kConfidenceOfEach);
  ResultPair pair{.a = a, .b = b};
  pair.ratio = quotient(of_b.value, of_a.value);
  pair.interval = {quotient(of_b.interval.low, of_a.interval.high),
                   quotient(of_b.interval.high, of_a.interval.low)};
  if (pair.is_counted()) pair.interval = {pair.ratio, pair.ratio};
  pair.p_value = rank_test(b.samples, a.samples);
  return pair;
}

}  // namespace

bool ResultPair::is_counted() const { return counted_once(a) && counted_once(b); }

bool ResultPair::has_interval() const { return interval.low <= interval.high; }

std::vector<ResultDifference> differences(const Results& a, const Results& b) {
  return differences_in(compared(a, b), a, b);
}

ResultMatch match_results(const Results& a, const Results& b) {
  Partners partners(a, b);
  ResultMatch match;
  for (const auto& m : a.measurements) {
    if (!comparable(m)) continue;
    const Measurement* const other = partners.next(m);
    if (!other) {
      match.missing.push_back({m, "B has no such record"});
    } else if (!comparable(*other)) {
      match.missing.push_back(
          {m, fmt::format("B is {}: {}", name_of(other->status), other->reason)});
    } else {
      match.pairs.push_back(make_pair_of(m, *other));
    }
  }
  return match;
}

}  // namespace d5
