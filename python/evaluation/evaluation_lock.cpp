// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/run/evaluation_lock.hpp"

#include <optional>

#include "d5/core/files/atomic_file.hpp"
#include "declared_keywords.hpp"
#include "evaluation/evaluation_module.hpp"
#include "long_call.hpp"

namespace d5::python {

void bind_evaluation_lock(py::module_& m) {
  m.def(
      "evaluation_lock",
      [](const Manifest& what, const std::optional<Path>& out, const Options& keywords) {
        const Settings changes = changes_of(keywords, "d5.evaluation_lock");
        const EvaluationManifest manifest = manifest_of(what);
        std::string lock;
        long_call([&](const Interrupt&) {
          lock = evaluation_lock(fixed_evaluation(manifest, changes));
          if (out) write_file(out->string(), lock);
        });
        return lock;
      },
      py::arg("what"), py::kw_only(), py::arg("out") = py::none(),
      "Every digest of what d5.evaluate would use, as JSON text, which `out` also receives: `d5 "
      "eval lock`. d5.evaluate(file, locked=True) runs it, if nothing changed since.");
  tell_keywords(m, "evaluation_lock", options_of<EvaluationManifest>(), Untold::as_file_says);
}

}  // namespace d5::python
