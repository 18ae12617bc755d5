// SPDX-License-Identifier: Apache-2.0
#include "d5/core/atomic_file.hpp"
#include "d5/core/results.hpp"
#include "d5/prediction/overlap_analysis.hpp"
#include "d5/prediction/overlap_map.hpp"
#include "d5/prediction/overlap_search.hpp"
#include "prediction/prediction.hpp"

namespace d5::python {
namespace {

OverlapGrid grid_of(const std::string& file, const std::string& base) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 24;
  if (file.ends_with(".json")) return overlap_grid_of(read_results(file).measurements);
  return overlap_grid_from_csv(read_file(file, kMostBytes), file, base);
}

}  // namespace

void bind_overlap(py::module_& m) {
  m.def(
      "overlap_report",
      [](const Path& file, const std::string& base) {
        const OverlapGrid grid = grid_of(file, base);
        return std::pair(best_settings_table(grid), single_settings_table(grid));
      },
      py::arg("file"), py::arg("base") = "2x256",
      "The best setting of each row of a table 'model,batch,SETTING,...', or of what `d5 overlap "
      "search` wrote; and what one setting for all rows loses.");
  m.def(
      "overlap_map_table",
      [](const Path& file) { return overlap_map_table(read_results(file).measurements); },
      py::arg("file"), "Of what `d5 overlap map --out` wrote.");
  m.def(
      "compare_overlap_maps",
      [](const Path& first, const Path& second) {
        return compare_overlap_maps(read_results(first), read_results(second)).share();
      },
      py::arg("first"), py::arg("second"),
      "The share of cells of two maps of one machine whose intervals meet.");
}

}  // namespace d5::python
