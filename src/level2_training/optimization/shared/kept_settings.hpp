// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/value.hpp"

namespace d5::detail {

/// A step modifier whose checkpoints hold its options: a run with other ones does not resume them.
template <class Modifier>
class KeptSettings : public Modifier {
 public:
  explicit KeptSettings(const typename Modifier::Options& options) : Modifier(options) {
    for (const Option& option : options_of(options)) {
      settings_ +=
          fmt::format("{}{}: {}", settings_.empty() ? "" : ", ", option.name, option.initial);
    }
  }

  [[nodiscard]] ValueMap state() const override {
    ValueMap state = Modifier::state();
    state[kName] = Tensor::vector(std::vector<std::uint8_t>(settings_.begin(), settings_.end()));
    return state;
  }
  /// Throws: FormatError for other settings.
  void restore(const ValueMap& state) override {
    ValueMap own = state;
    if (const auto kept = own.extract(kName); !kept.empty()) {
      const auto bytes = kept.mapped().tensor().template span<std::uint8_t>();
      const std::string then = printable(std::string(bytes.begin(), bytes.end()));
      if (then != settings_) {
        throw FormatError(
            fmt::format("{}: '{}' before the checkpoint, '{}' here; resume with what "
                        "it was begun with",
                        this->name(), then, settings_));
      }
    }
    Modifier::restore(own);
  }

 private:
  static constexpr const char* kName = "settings";
  std::string settings_;  ///< "decay: 0.9, begin: 0"
};

}  // namespace d5::detail
