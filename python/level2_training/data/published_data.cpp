// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/published_data.hpp"

#include "bindings.hpp"
#include "level2_training/training/session_options.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

std::string fetch(const std::string& name, const Path& folder, const std::string& mirror,
                  const Anything& say) {
  FetchOptions how{.folder = folder.string(), .mirror = mirror};
  if (const auto line = to_say(say)) {
    how.on_file = [line](const PublishedFile& file) { line(file.name); };
  }
  std::string where;
  long_call([&](const Interrupt& interrupt) {
    how.interrupt = interrupt;
    where = fetch_data(name, how);
  });
  return where;
}

}  // namespace

void bind_published_data(py::module_& m) {
  py::class_<PublishedData>(m, "PublishedData", "Source of a data set.")
      .def_readonly("content", &PublishedData::content, "Amount of data, in words.")
      .def_readonly("licence", &PublishedData::licence, "Terms of use.")
      .def_readonly("source", &PublishedData::source, "A page for people.")
      .def_readonly("by_hand", &PublishedData::by_hand, "Instructions if it cannot be fetched.")
      .def_property_readonly(
          "files",
          [](const PublishedData& data) {
            std::vector<std::string> names;
            for (const auto& file : data.files) names.push_back(file.name);
            return names;
          },
          "Names of the files that can be downloaded.");
  m.def(
      "published_data",
      [] {
        std::map<std::string, PublishedData> all;
        for (const auto& [name, data] : published_data().entries()) all[name] = data;
        return all;
      },
      "Data sets with a known publisher, by name.");
  m.def("found_data", &found_data, py::arg("name"),
        "Folder of its files, below $D5_DATA_DIR or in the cache; empty if there is none.");
  m.def("fetch_data", &fetch, py::arg("name"), py::kw_only(), py::arg("folder") = "",
        py::arg("mirror") = "", py::arg("say") = py::none(),
        "Downloads missing files and checks their SHA-256; returns the folder. `say` is called "
        "with each file's name. Raises IoError, which names the file and its place; Unsupported "
        "for data that must be fetched by hand.");
  m.def(
      "verify_data",
      [](const std::string& name, const Path& folder) {
        std::vector<FileState> states;
        long_call([&](const Interrupt& interrupt) {
          states = verify_data(name, folder.string(), interrupt);
        });
        std::map<std::string, std::string> words;
        for (const auto& [is, file, reason] : states) {
          words[file] = reason.empty() ? word_of(is) : word_of(is) + ": " + reason;
        }
        return words;
      },
      py::arg("name"), py::arg("folder"),
      "State of each file: \"right\", \"unpacked\", \"missing\", or \"wrong: \" with the reason.");
}

}  // namespace d5::python
