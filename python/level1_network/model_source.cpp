// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/source/model_source.hpp"

#include <optional>
#include <set>
#include <string>

#include "bindings.hpp"
#include "d5/core/entries/unknown_option.hpp"
#include "d5/level1_network/graph/transform_doubt.hpp"
#include "d5/level1_network/source/models.hpp"
#include "declared_keywords.hpp"
#include "long_call.hpp"

namespace d5::python {

namespace {

/// Throws: UnknownOption for a wish that no model has.
void expect_wishes(const Options& wishes) {
  std::set<std::string> known{"batch"};
  for (const auto& [name, entry] : models().entries()) {
    for (const Option& option : entry.options()) known.insert(option.name);
  }
  for (const auto& wish : wishes) {
    const auto name = wish.first.cast<std::string>();
    if (known.contains(name)) continue;
    try {
      throw_unknown_name("d5.open_model: option of a model", name, {known.begin(), known.end()});
    } catch (const NotFound& unknown) {
      throw UnknownOption(unknown.what());
    }
  }
}

}  // namespace

void bind_model_source(py::module_& m) {
  m.def(
      "open_model",
      [](const Path& model, const std::vector<std::string>& transforms, const Options& wishes) {
        expect_wishes(wishes);
        const Settings settings = entry_settings(wishes, "d5.open_model", models(), model.string());
        std::optional<Network> network;
        long_call([&](const Interrupt& interrupt) {
          network.emplace(
              open_model(model.string(), settings, transform_chain(transforms), interrupt));
        });
        if (const auto doubt = doubt_of(*network);
            !doubt.empty() && PyErr_WarnEx(PyExc_UserWarning, doubt.c_str(), 1) != 0) {
          throw py::error_already_set();
        }
        return *std::move(network);
      },
      py::arg("model"), py::kw_only(), py::arg("transforms") = std::vector<std::string>(),
      "Opens the network that the program's MODEL names: an .onnx file, an ONNX test folder, a "
      "built-in network, or one operator, \"Gemm 64x512 512x32\". `transforms` are applied to it, "
      "each as NAME[:KEY=VALUE]... Further keywords are used if it has such options: seed, "
      "with_loss, batch.");
  m.def("models_of", &models_of, py::arg("words"), py::call_guard<py::gil_scoped_release>(),
        "Expands words to names of models for open_model: a folder becomes its models; a .txt file "
        "of cases, and a line with `for`, become their cases.");
}

}  // namespace d5::python
