// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/schemes/topology.hpp"

#include "d5/level3_distributed/schemes/mixing_matrix.hpp"
#include "part_kind.hpp"

namespace d5::python {
namespace {

using Rows = std::vector<std::vector<double>>;

MixingMatrix matrix_of(const Rows& rows) {
  std::vector<double> weights;
  for (const auto& row : rows) weights.insert(weights.end(), row.begin(), row.end());
  return {int(rows.size()), std::move(weights)};
}

MixingMatrix matrix_of_python(const py::object& made) {
  if (py::isinstance<MixingMatrix>(made)) return made.cast<const MixingMatrix&>();
  throw_made_other(made, "a d5.MixingMatrix, such as d5.MixingMatrix.metropolis(ranks, edges)");
}

Rows rows_of(const MixingMatrix& matrix) {
  Rows rows;
  for (int i = 0; i < matrix.ranks(); ++i) {
    rows.emplace_back();
    for (int j = 0; j < matrix.ranks(); ++j) rows.back().push_back(matrix(i, j));
  }
  return rows;
}

}  // namespace

/// A topology is a function of the number of ranks.
void register_topology(py::module_& m) {
  py::class_<MixingMatrix>(
      m, "MixingMatrix",
      "Mixing matrix W of decentralized training: rank i weights the values of rank j by W[i][j]. "
      "Symmetric, rows sum to 1, nonnegative, connected.")
      .def(py::init(&matrix_of), py::arg("rows"),
           "Takes W as a list of R rows of R weights for R ranks. Raises ShapeError for other "
           "shapes, ValueError with the row, or the ranks, that break a rule.")
      .def_static("metropolis", &MixingMatrix::metropolis, py::arg("ranks"), py::arg("edges"),
                  "Metropolis weights of an undirected graph: W[i][j] = 1 / (1 + the larger degree "
                  "of i and j).")
      .def("lazy", &MixingMatrix::lazy, "(I + W) / 2.")
      .def("neighbors", &MixingMatrix::neighbors, py::arg("rank"),
           "The other ranks with a weight in row `rank`, ascending.")
      .def_property_readonly("rows", &rows_of, "W as a list of rows.")
      .def_property_readonly("second_eigenvalue", &MixingMatrix::second_eigenvalue,
                             "Factor by which each mixing reduces disagreement.");
  const auto make = [](const PythonEntry& entry, int ranks, const PythonOptions& own) {
    return entry.make(own, &matrix_of_python, py::make_tuple(ranks));
  };
  part_kinds().add(topologies().kind(),
                   {.base = "", .needs = 1, .add = adding_to(topologies(), make)});
  m.def(
      "topology",
      [](const std::string& name, int ranks, const Options& options) {
        return topologies().at(name).make(
            ranks, entry_settings(options, "d5.topology", topologies(), name));
      },
      py::arg("name"), py::arg("ranks"),
      "Makes the mixing matrix of a topology for that many ranks.");
  m.def("topologies", [] { return topologies().names(); });
}

}  // namespace d5::python
