// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>

#include "bindings.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/tables/text_table.hpp"

namespace d5::python {
namespace {

Format format_of(const std::string& word) {
  const std::map<std::string, Format> formats{{"table", Format::table},
                                              {"json", Format::json},
                                              {"jsonl", Format::jsonl},
                                              {"csv", Format::csv},
                                              {"markdown", Format::markdown}};
  const auto place = formats.find(word);
  if (place != formats.end()) return place->second;
  throw ValueError(
      fmt::format("format is '{}', expected table, json, jsonl, csv or markdown", printable(word)));
}

}  // namespace

void bind_table(py::module_& m) {
  py::class_<TextTable>(m, "Table", "Words in rows and columns, which print as a table.")
      .def_property_readonly(
          "columns",
          [](const TextTable& table) {
            std::vector<std::string> titles;
            for (const auto& column : table.columns()) {
              titles.push_back(column.title);
            }
            return titles;
          },
          "Titles of the columns.")
      .def_property_readonly(
          "rows", [](const TextTable& table) { return table.rows(); },
          "Cells of each row, as texts.")
      .def(
          "text",
          [](const TextTable& table, const std::string& format) {
            return table.to_text(format_of(format));
          },
          py::arg("format") = "table", "The table as text: table, json, jsonl, csv or markdown.")
      .def("__len__", &TextTable::size)
      .def("__str__", [](const TextTable& table) { return table.to_text(Format::table); })
      .def("_repr_markdown_",
           [](const TextTable& table) { return table.to_text(Format::markdown); })
      .def("__repr__", [](const TextTable& table) {
        return fmt::format("<d5.Table: {} rows of {} columns>", table.size(),
                           table.columns().size());
      });
}

}  // namespace d5::python
