// SPDX-License-Identifier: Apache-2.0
#include <variant>

#include "d5/core/files/atomic_file.hpp"
#include "d5/core/results/results.hpp"
#include "d5/prediction/overlap/overlap_analysis.hpp"
#include "d5/prediction/overlap/overlap_map.hpp"
#include "d5/prediction/overlap/overlap_search.hpp"
#include "prediction/prediction.hpp"

namespace d5::python {
namespace {

/// A file, or the rows of a search.
using GridSource = std::variant<std::vector<Measurement>, Path>;

OverlapGrid grid_of(const GridSource& source, const std::string& base) {
  if (const auto* rows = std::get_if<std::vector<Measurement>>(&source)) {
    return overlap_grid_of(*rows);
  }
  const std::string file = std::get<Path>(source).string();
  constexpr std::size_t kMostBytes = std::size_t{1} << 24;
  if (file.ends_with(".json")) return overlap_grid_of(read_results(file).measurements);
  return overlap_grid_from_csv(read_file(file, kMostBytes), file, base);
}

}  // namespace

void bind_overlap(py::module_& m) {
  m.def(
      "overlap_report",
      [](const GridSource& source, const std::string& base) {
        const OverlapGrid grid = grid_of(source, base);
        return std::pair(best_settings_table(grid), single_settings_table(grid));
      },
      py::arg("source"), py::arg("base") = "2x256",
      "The best setting of each row of a table 'model,batch,SETTING,...', or of an overlap search "
      "(its file, or its rows); and the loss from one setting for all rows.");
  m.def(
      "overlap_map_table",
      [](const GridSource& source) {
        const auto* rows = std::get_if<std::vector<Measurement>>(&source);
        return overlap_map_table(rows ? *rows : read_results(std::get<Path>(source)).measurements);
      },
      py::arg("source"), "A table of the rows of an overlap map, or of their file.");
  m.def(
      "compare_overlap_maps",
      [](const Path& first, const Path& second) {
        return compare_overlap_maps(read_results(first), read_results(second)).share();
      },
      py::arg("first"), py::arg("second"),
      "Share of cells of two maps of one machine whose intervals overlap.");
}

}  // namespace d5::python
