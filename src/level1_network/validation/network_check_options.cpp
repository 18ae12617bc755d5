// SPDX-License-Identifier: Apache-2.0
// The options of a check: their names, and the valid combinations.
#include "level1_network/validation/network_check_options.hpp"

#include <fmt/format.h>

#include <cmath>

#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "level1_network/validation/reduced_folder.hpp"

namespace d5 {
namespace {

void expect_reducible(const NetworkCheckOptions& options) {
  const std::string reduce = option_word("reduce");
  if (options.by_node || options.numeric > 0) {
    throw ValueError(fmt::format("{} compares whole networks; leave out {} and {}", reduce,
                                 option_word("by_node"), option_word("numeric")));
  }
  if (options.tolerance) {
    throw ValueError(reduce + " looks for what rounding does not explain; leave out the tolerance");
  }
  if (options.backward && options.slower > 0) {
    throw ValueError(fmt::format("{} applies to forward only; leave out {}", option_word("slower"),
                                 option_word("backward")));
  }
  if (executor_words(options.frameworks).size() != 1) {
    throw ValueError(reduce + " is for one framework at a time; name it with " +
                     option_word("framework"));
  }
  expect_own_folder(options.reduce);
}

void expect_tolerance(const char* name, double value) {
  if (std::isfinite(value) && value >= 0) return;
  throw ValueError(
      fmt::format("{} is {}, expected a finite number >= 0", option_word(name), value));
}

}  // namespace

bool detail::expects_outputs(const std::string& model, const NetworkCheckOptions& options) {
  return is_test_folder(model) && options.inputs.empty();
}

void NetworkCheckOptions::declare(OptionList& options) {
  options.add("against", against,
              "reference framework; test folders have their own expected outputs",
              {.placeholder = "FRAMEWORK"});
  options.add("backward", backward,
              "compare parameters' gradients; without an output 'loss', those of the outputs times "
              "random numbers");
  options.add(
      "by_node", by_node,
      "find the node that differs: its accumulated error, and its own error on correct inputs");
  options.add(
      "reduce", reduce,
      "reduce the network to the few nodes that differ, and save them to a folder with data and a "
      "program that shows the difference; if interrupted, the same command continues",
      {.placeholder = "FOLDER"});
  options.add("slower", slower,
              "keep nodes that take X times as long as in the reference framework, whatever their "
              "outputs; as reliable as the machine is steady; 0: nodes that differ",
              {.least = 0, .unit = "x"});
  options.add("numeric", numeric,
              "compare gradients with finite differences in float64, for N elements of each "
              "parameter; 0: skip",
              {.least = 0});
}

void expect_checkable(const std::string& model, const NetworkCheckOptions& options) {
  if (options.backward && options.by_node) {
    throw ValueError(fmt::format("{} compares nodes forward only; leave out {}",
                                 option_word("by_node"), option_word("backward")));
  }
  if (options.tolerance) {
    expect_tolerance("rtol", options.tolerance->relative);
    expect_tolerance("atol", options.tolerance->absolute);
  }
  if (!options.reduce.empty()) expect_reducible(options);
  if (options.slower > 0 && options.reduce.empty()) {
    throw ValueError(fmt::format("{} is what {} looks for; name its folder, too",
                                 option_word("slower"), option_word("reduce")));
  }
  if (options.backward && kept_by(options.transforms) != Keeps::gradients) {
    throw ValueError(option_word("backward") +
                     ": a transform of the chain keeps no gradients ('d5 list transforms')");
  }
  if (!detail::expects_outputs(model, options)) return;
  refuse_sizes(options.sizes, model);
  if (options.backward) {
    throw ValueError(fmt::format("{}: test folder '{}' expects no gradients; name its model.onnx",
                                 option_word("backward"), printable(model)));
  }
}

}  // namespace d5
