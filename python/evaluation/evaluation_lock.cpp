// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/evaluation_lock.hpp"

#include <optional>

#include "d5/core/atomic_file.hpp"
#include "evaluation/evaluation_module.hpp"
#include "long_call.hpp"

namespace d5::python {

void bind_evaluation_lock(py::module_& m) {
  m.def(
      "evaluation_lock",
      [](const Manifest& what, const std::optional<Path>& out,
         std::optional<std::vector<std::string>> frameworks,
         std::optional<std::vector<std::string>> scenarios,
         std::optional<std::vector<std::int64_t>> batches, std::optional<std::string> dataset,
         std::optional<std::string> split) {
        const EvaluationManifest manifest = manifest_of(what);
        const EvaluationChanges changes{.frameworks = std::move(frameworks),
                                        .scenarios = std::move(scenarios),
                                        .batches = std::move(batches),
                                        .dataset = std::move(dataset),
                                        .split = std::move(split)};
        std::string lock;
        long_call([&](const Interrupt&) {
          lock = evaluation_lock(fixed_evaluation(manifest, changes));
          if (out) write_file(out->string(), lock);
        });
        return lock;
      },
      py::arg("what"), py::kw_only(), py::arg("out") = py::none(),
      py::arg("frameworks") = py::none(), py::arg("scenarios") = py::none(),
      py::arg("batches") = py::none(), py::arg("dataset") = py::none(),
      py::arg("split") = py::none(),
      "Every digest of what d5.evaluate would use, as text (JSON), which `out` gets, too: "
      "`d5 eval lock`. d5.evaluate(file, locked=True) runs it, if nothing is another since.");
}

}  // namespace d5::python
