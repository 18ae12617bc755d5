// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "d5/core/errors/error.hpp"

namespace d5 {

/// Up to three of `candidates` that differ least from `name`, nearest first; none if all are far.
[[nodiscard]] std::vector<std::string> nearest_names(std::string_view name,
                                                     const std::vector<std::string>& candidates);
/// Throws NotFound with the known names and a suggestion: `meant`, or else the nearest names.
[[noreturn]] void throw_unknown_name(std::string_view kind, std::string_view name,
                                     const std::vector<std::string>& known,
                                     const std::vector<std::string>& meant = {});
/// Whether a summary has `name` as a whole word, in letters of any case: "dsgd" in "synchronous SGD
/// (Deep500's dsgd)".
[[nodiscard]] bool mentions(std::string_view summary, std::string_view name);
[[noreturn]] void throw_duplicate_name(std::string_view kind, std::string_view name);

/// Things of one kind, by name. Built-in parts and a user's own come in by the same `add`.
///
/// Thread safety: all of it; entries stay, and references to them are good, for the registry's
/// life.
///
///     optimizers().add("momentum", OptimizerEntry::of<MomentumOptimizer>("SGD with momentum"));
///     auto optimizer = optimizers().at("momentum").make(executor, "loss");
template <class T>
class Registry {
 public:
  /// `kind` is the word for messages: "optimizer". `fill` adds what is built in.
  explicit Registry(std::string kind, void (*fill)(Registry&) = nullptr) : kind_(std::move(kind)) {
    if (fill) fill(*this);
  }
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  /// Throws: ValueError if the name is taken.
  void add(std::string name, T entry) {
    if constexpr (requires { entry.set_who(name); }) entry.set_who(kind_ + " " + name);
    const std::unique_lock lock(mutex_);
    const auto [place, fresh] = entries_.try_emplace(std::move(name), std::move(entry));
    if (!fresh) throw_duplicate_name(kind_, place->first);
  }
  /// Throws: NotFound, listing what is known and suggesting the nearest.
  [[nodiscard]] const T& at(std::string_view name) const {
    if (const T* entry = find(name)) return *entry;
    std::vector<std::string> meant;  // the name that a paper gives it
    if constexpr (requires(const T& entry) { entry.summary(); }) {
      for (const auto& [known, entry] : entries()) {
        if (mentions(entry.summary(), name)) meant.push_back(known);
      }
    }
    throw_unknown_name(kind_, name, names(), meant);
  }
  [[nodiscard]] const T* find(std::string_view name) const {
    const std::shared_lock lock(mutex_);
    const auto place = entries_.find(name);
    return place == entries_.end() ? nullptr : &place->second;
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& [name, entry] : entries()) result.push_back(name);
    return result;
  }
  struct Named {
    const std::string& name;
    const T& entry;
  };
  /// All that are there now, by name.
  [[nodiscard]] std::vector<Named> entries() const {
    const std::shared_lock lock(mutex_);
    std::vector<Named> result;
    for (const auto& [name, entry] : entries_) result.push_back({name, entry});
    return result;
  }
  [[nodiscard]] const std::string& kind() const { return kind_; }

 private:
  std::string kind_;
  mutable std::shared_mutex mutex_;
  std::map<std::string, T, std::less<>> entries_;
};

}  // namespace d5
