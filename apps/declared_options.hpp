// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"

namespace CLI {
class App;
}

namespace d5::app {

/// Takes the text of the option `name`. Throws: ValueError.
using TakeOption = std::function<void(const std::string& name, const std::string& text)>;
/// `group` is the heading in the help. Integers are read as sizes, too: 1,4,16 or 1..64*2.
void add_declared_options(CLI::App& command, const std::vector<Option>& declared,
                          const std::string& group, const TakeOption& take);

/// An option of the program for each that `options` tell an `OptionList`: `--most-seconds S`, a
/// flag
/// `--cold-cache`, and `--no-accuracy` for one that is usually on.
template <class Options>
void add_declared_options(CLI::App& command, Options& options, const std::string& group) {
  add_declared_options(command, options_of(options), group,
                       [&options](const std::string& name, const std::string& text) {
                         options = read_options({{name, text}}, options);
                       });
}

}  // namespace d5::app
