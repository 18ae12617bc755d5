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

/// What the program calls an option: "--most-seconds" of "most_seconds"; of a flag that is usually
/// on, what turns it off: "--no-accuracy".
[[nodiscard]] std::string option_flag(const Option& option);

/// A line of the program d5 that does what a call of the library does: a record's `command`. Words
/// are quoted for a shell where they need it.
///
///     CommandLine("op bench").word("Relu 8").option("--pass", "forward").text();
///     // d5 op bench 'Relu 8' --pass forward
class CommandLine {
 public:
  /// Options alone, for the end of another line: " --seed 3 --samples 10".
  CommandLine() = default;
  /// `command` is "op bench".
  explicit CommandLine(const std::string& command) : text_("d5 " + command) {}

  CommandLine& word(std::string_view word);
  CommandLine& flag(const std::string& name);
  CommandLine& option(const std::string& name, const Settings::Value& value);
  /// " --most-seconds 3"; of a flag itself, or nothing where it is as usual.
  CommandLine& option(const Option& usual, const std::string& value);
  /// What `options` tell an `OptionList`, where it is not as `usual`: " --samples 3 --cold-cache",
  /// and " --no-accuracy" for a flag that is usually on.
  template <class Options>
  CommandLine& options(const Options& options, const Options& usual = Options()) {
    const std::vector<Option> now = options_of(options), then = options_of(usual);
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (now[i].initial != then[i].initial) option(then[i], now[i].initial);
    }
    return *this;
  }
  /// " --framework A,B --device cuda:0 --threads 2"; the device is left out where it is the host.
  CommandLine& runs_in(const std::vector<std::string>& frameworks, Device device = {});
  /// " --metrics A,B" for those but "time", which is always measured, and those without a name.
  CommandLine& metrics(const std::vector<MetricChoice>& metrics);
  /// What is quoted already: another line's options.
  CommandLine& append(std::string_view options);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace d5
