// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/analysis/analysis.hpp"

#include "d5/core/report/plot.hpp"
#include "d5/core/results/environment.hpp"
#include "d5/core/tables/text_table.hpp"
#include "declared_keywords.hpp"
#include "evaluation/evaluation_module.hpp"

namespace d5::python {
namespace {

AnalysisResult analyse_files(const std::string& which, const std::vector<Path>& files,
                             const Options& options) {
  const Settings settings = entry_settings(options, "d5.analyse", analyses(), which);
  std::vector<std::string> paths;
  for (const Path& file : files) paths.push_back(file.string());
  const py::gil_scoped_release released;
  const auto runs = read_runs(paths);
  return analyses().at(which).make(settings)->analyse(runs);
}

}  // namespace

void bind_analysis(py::module_& m) {
  m.def(
      "analyse",
      [](const std::string& which, const std::vector<Path>& files, const Options& options) {
        AnalysisResult result = analyse_files(which, files, options);
        return std::pair(std::move(result.table), std::move(result.plots));
      },
      py::arg("analysis"), py::arg("files"),
      "Analyses runs ('d5 list analyses') from their results files and traces. Returns a table and "
      "plots. Further keywords are the analysis's options.");
  m.def("analyses", [] { return analyses().names(); });
}

}  // namespace d5::python
