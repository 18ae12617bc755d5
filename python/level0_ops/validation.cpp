// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "bindings.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/level0_ops.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

Measurements check(const std::function<std::vector<Measurement>(const Interrupt&)>& test) {
  std::vector<Measurement> rows;
  long_call([&](const Interrupt& interrupt) { rows = test(interrupt); });
  return Measurements(rows);
}

/// The one case that a text is. Throws: FormatError; NotFound for an unknown operator; ValueError
/// for one without its inputs, and a file of several.
OperatorCase one_case(const std::string& text, const std::string& framework) {
  expect_known_framework(framework);
  try {
    (void)d5::framework(framework);  // it may bring the operator
  } catch (const Error&) {           // the result says so
  }
  (void)read_case(text);  // refuses several cases in a line
  const auto cases = read_case_words({text});
  if (cases.size() == 1) return cases.front().draw();
  throw ValueError(
      fmt::format("{} is a file of {} cases, expected one case; d5.check_operator takes "
                  "files",
                  printable(text), cases.size()));
}

}  // namespace

void bind_operator_validation(py::module_& m) {
  m.def(
      "operators",
      [](const std::string& name) {
        const py::gil_scoped_release released;
        std::vector<std::string> names;
        for (const auto& entry : framework(name).part<OperatorRegistry>().list()) {
          names.push_back(entry.domain.empty() ? entry.name : entry.domain + "." + entry.name);
        }
        return names;
      },
      py::arg("framework") = "reference", "Names of a framework's operators.");

  m.def(
      "test_forward",
      [](const std::string& line, const std::string& framework, const std::string& reference,
         bool exact, const std::string& heatmaps, double isolate) {
        return check([&](const Interrupt& interrupt) {
          return test_forward(one_case(line, framework), framework,
                              {.reference = reference,
                               .exact = exact,
                               .interrupt = interrupt,
                               .heatmaps = heatmaps,
                               .isolation = {.most_seconds = isolate, .interrupt = interrupt}});
        });
      },
      py::arg("case"), py::arg("framework") = "reference", py::arg("reference") = "reference",
      py::arg("exact") = false, py::kw_only(), py::arg("heatmaps") = "", py::arg("isolate") = 0.0,
      "Compares an operator's outputs with another framework's; if `exact`, computed there in "
      "float64. `heatmaps` is a folder for pictures of where outputs differ. With isolate=S it "
      "runs in a process of its own for at most S seconds: a crash or a hang is a failed row.");
  m.def(
      "test_repeatability",
      [](const std::string& line, const std::string& framework, int runs,
         const std::string& heatmaps) {
        return check([&](const Interrupt& interrupt) {
          return test_repeatability(one_case(line, framework), framework,
                                    {.runs = runs, .heatmaps = heatmaps, .interrupt = interrupt});
        });
      },
      py::arg("case"), py::arg("framework") = "reference",
      py::arg("runs") = RepeatabilityOptions{}.runs, py::arg("heatmaps") = "",
      "Compares the bits of outputs and gradients over runs. `heatmaps` is a folder for pictures "
      "of how they vary.");
  m.def(
      "check_operator",
      [](const std::string& words, const std::vector<std::string>& frameworks, bool gradient,
         int repeats, bool exact, bool norms, std::uint64_t seed, bool reduce,
         double reduce_seconds, double isolate) {
        return check([&](const Interrupt& interrupt) {
          std::vector<Measurement> rows;
          const OperatorCheckOptions options{
              .frameworks = operator_words(frameworks),
              .gradient = gradient,
              .repeats = repeats,
              .forward = {.exact = exact,
                          .interrupt = interrupt,
                          .errors = norms ? ErrorDetail::norms : ErrorDetail::largest,
                          .isolation = {.most_seconds = isolate, .interrupt = interrupt}},
              .seed = seed,
              .reduce = reduce,
              .reduce_seconds = reduce_seconds};
          for (const CaseLine& one : read_case_words({words}, seed)) {
            if (interrupt.due()) break;
            std::ranges::move(check_operator(one, options), std::back_inserter(rows));
          }
          return rows;
        });
      },
      py::arg("case"), py::kw_only(), py::arg("frameworks") = std::vector<std::string>{"reference"},
      py::arg("gradient") = true, py::arg("repeats") = 0, py::arg("exact") = false,
      py::arg("norms") = false, py::arg("seed") = 0, py::arg("reduce") = false,
      py::arg("reduce_seconds") = 600.0, py::arg("isolate") = 0.0,
      "Validates an operator, forward and backward: `d5 op check`. `case` is a case, or a file of "
      "them; \"all\" is every framework that can be loaded. With `reduce`, one row per framework "
      "has the smallest case that fails alike as its condition 'case', and a command that "
      "reproduces it. With isolate=S it runs in a process of its own, as in test_forward.");
  m.def(
      "absolute_difference",
      [](const Anything& got, const Anything& expected) {
        return absolute_difference(to_tensor(got), to_tensor(expected));
      },
      py::arg("got"), py::arg("expected"), "|got - expected|, element by element, in float64.");
  m.def(
      "heatmap", [](const Anything& values) { return heatmap(to_tensor(values)); },
      py::arg("values"),
      "A picture of the magnitudes of a tensor's elements: uint8, height x width x 3.");
  m.def(
      "test_gradient",
      [](const std::string& line, const std::string& framework, double isolate) {
        return check([&](const Interrupt& interrupt) {
          return test_gradient(one_case(line, framework), framework,
                               {.interrupt = interrupt,
                                .isolation = {.most_seconds = isolate, .interrupt = interrupt}});
        });
      },
      py::arg("case"), py::arg("framework") = "reference", py::kw_only(), py::arg("isolate") = 0.0,
      "Checks backward against central differences. With isolate=S it runs in a process of its "
      "own, as in test_forward.");
}

}  // namespace d5::python
