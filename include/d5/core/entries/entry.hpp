// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "d5/core/entries/option.hpp"

namespace d5 {

template <class Signature>
class Entry;

/// What a registry holds: a part that is chosen by name and made from settings. `Needs` are what
/// every part of the kind is given: an optimizer its executor and the loss.
///
///     using OptimizerEntry = Entry<std::shared_ptr<Optimizer>(std::shared_ptr<GraphExecutor>,
///                                                             std::string loss)>;
///     registry.add("sgd", OptimizerEntry::of<SgdOptimizer>("stochastic gradient descent"));
///     auto optimizer = registry.at("sgd").make(executor, "loss", {{"learning_rate", 0.1}});
///
/// The entry itself checks the settings, to the last one, before the factory is called.
/// Thread safety: an entry in a registry may be used by several threads at once.
template <class Product, class... Needs>
class Entry<Product(Needs...)> {
 public:
  /// A part without options.
  template <std::invocable<Needs...> Factory>
  Entry(std::string summary, Factory factory)
      : Entry(std::move(summary), {}, [factory](Needs... needs, const Settings& settings) {
          OptionList(settings).expect_all_known();
          return Product(factory(std::forward<Needs>(needs)...));
        }) {}

  /// A part that `factory(needs..., const Options&)` makes; `OptionList` says what `Options` is.
  /// `initial` has the defaults, and where only running tells what there is to choose (a class in
  /// another language), the options themselves.
  template <class Options, std::invocable<Needs..., const Options&> Factory>
  [[nodiscard]] static Entry with(std::string summary, Factory factory,
                                  const Options& initial = Options()) {
    return Entry(std::move(summary), options_of<Options>(initial),
                 [factory, initial](Needs... needs, const Settings& settings) {
                   const auto options = read_options<Options>(settings, initial);
                   return Product(factory(std::forward<Needs>(needs)..., options));
                 });
  }

  /// A part that is a class: `Part(needs..., const Part::Options&)`, or `Part(needs...)` if it has
  /// no options.
  template <class Part>
  [[nodiscard]] static Entry of(std::string summary) {
    const auto factory = [](auto&&... arguments) {
      return std::make_shared<Part>(std::forward<decltype(arguments)>(arguments)...);
    };
    if constexpr (requires { typename Part::Options; }) {
      return with<typename Part::Options>(std::move(summary), factory);
    } else {
      return Entry(std::move(summary), factory);
    }
  }

  [[nodiscard]] const std::string& summary() const { return summary_; }
  [[nodiscard]] const std::vector<Option>& options() const { return options_; }
  [[nodiscard]] bool has_option(std::string_view name) const {
    return std::ranges::find(options_, name, &Option::name) != options_.end();
  }

  /// Sets `option` where there is one of that name which `settings` leave open: what a run knows,
  /// such as its seed, and a part may want.
  void offer(Settings& settings, const std::string& option, Settings::Value value) const {
    if (has_option(option) && !settings.has(option)) settings.set(option, std::move(value));
  }

  /// Throws: NotFound for a setting that is no option, with the nearest; ValueError for text that
  /// is not of the option's type or range; and what the factory throws.
  [[nodiscard]] Product make(Needs... needs, const Settings& settings = {}) const {
    return factory_(std::forward<Needs>(needs)..., settings.owned_by(who_));
  }

  /// Called once, by the registry: what messages call it, as in "optimizer sgd".
  void set_who(std::string who) { who_ = std::move(who); }

 private:
  using Factory = std::function<Product(Needs..., const Settings&)>;
  Entry(std::string summary, std::vector<Option> options, Factory factory)
      : summary_(std::move(summary)), options_(std::move(options)), factory_(std::move(factory)) {}

  std::string summary_, who_;
  std::vector<Option> options_;
  Factory factory_;
};

}  // namespace d5
