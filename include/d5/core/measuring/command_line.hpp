// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/core/entries/settings.hpp"
#include "d5/core/measuring/metric.hpp"
#include "d5/core/tensor/device.hpp"

namespace d5 {

/// The program's flag for an option: "--most-seconds" for "most_seconds". For a flag that is on by
/// default, the one that turns it off: "--no-accuracy".
[[nodiscard]] std::string option_flag(const Option& option);

/// Builds the d5 command line that is equivalent to a call of the library: a record's `command`.
/// Words are quoted for a shell as needed.
///
///     CommandLine("op bench").word("Relu 8").option("--pass", "forward").text();
///     // d5 op bench 'Relu 8' --pass forward
class CommandLine {
 public:
  /// Options only, for the end of another line: " --seed 3 --samples 10".
  CommandLine() = default;
  /// `command` is "op bench".
  explicit CommandLine(const std::string& command) : text_("d5 " + command) {}

  CommandLine& word(std::string_view word);
  CommandLine& flag(const std::string& name);
  CommandLine& option(const std::string& name, const Settings::Value& value);
  /// Adds " --most-seconds 3", or a flag alone; nothing for the default value.
  CommandLine& option(const Option& usual, const std::string& value);
  /// Adds the declared options that differ from `usual`: " --samples 3 --cold-cache"; for a flag
  /// that is on by default, " --no-accuracy".
  template <class Options>
  CommandLine& options(const Options& options, const Options& usual = Options()) {
    const std::vector<Option> now = options_of(options), then = options_of(usual);
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (now[i].initial != then[i].initial) option(then[i], now[i].initial);
    }
    return *this;
  }
  /// Adds " --framework A,B --device cuda:0 --threads 2"; omits the device if it is the host.
  CommandLine& runs_in(const std::vector<std::string>& frameworks, Device device = {});
  /// Adds " --metrics A,B". Omits "time", which is always measured, and metrics without a name.
  CommandLine& metrics(const std::vector<MetricChoice>& metrics);
  /// Appends text that is quoted already, such as another line's options.
  CommandLine& append(std::string_view options);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace d5
