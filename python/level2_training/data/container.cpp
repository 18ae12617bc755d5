// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/container.hpp"

#include <fmt/format.h>

#include "bindings.hpp"
#include "d5/core/errors/error.hpp"
#include "declared_keywords.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

std::vector<ContainerFile> convert_dataset(const Dataset& dataset, const Path& path,
                                           const std::string& container, std::int64_t shards,
                                           std::int64_t shard_samples, std::size_t shard_bytes,
                                           std::uint64_t seed, const Options& options) {
  ConvertOptions how{.shards = shards,
                     .shard_samples = shard_samples,
                     .shard_bytes = shard_bytes,
                     .settings = entry_settings(options, "d5.convert", containers(), container),
                     .draw = {.seed = seed}};
  std::vector<ContainerFile> files;
  long_call([&](const Interrupt& interrupt) {
    how.interrupt = interrupt;
    files = convert(dataset, container, path.string(), how);
  });
  return files;
}

std::shared_ptr<Dataset> open(const Path& path, const std::string& container,
                              const Options& options) {
  const Settings settings = entry_settings(options, "d5.open_container", containers(), container);
  std::shared_ptr<const Dataset> data;
  long_call([&](const Interrupt& interrupt) {
    data = open_container(container, path.string(), settings, interrupt);
  });
  return std::const_pointer_cast<Dataset>(data);
}

}  // namespace

void bind_container(py::module_& m) {
  py::class_<ContainerFile>(m, "ContainerFile", "A file that convert wrote.")
      .def_readonly("path", &ContainerFile::path, "Path of the file.")
      .def_readonly("samples", &ContainerFile::samples, "Number of samples in the file.")
      .def_readonly("bytes", &ContainerFile::bytes, "Size of the file in bytes.")
      .def_readonly("sha256", &ContainerFile::sha256, "Digest of the file.")
      .def("__repr__", [](const ContainerFile& file) {
        return fmt::format("<d5.ContainerFile {}: {} samples, {} bytes>", printable(file.path),
                           file.samples, file.bytes);
      });
  m.def("convert", &convert_dataset, py::arg("dataset").none(false), py::arg("path"), py::kw_only(),
        py::arg("container") = "", py::arg("shards") = 0, py::arg("shard_samples") = 0,
        py::arg("shard_bytes") = 0, py::arg("seed") = 0,
        "Writes all samples to the file `path`, or to shards of it: `shards` of them, or of at "
        "most `shard_samples` samples or about `shard_bytes` each. The path's ending selects the "
        "container (`d5 list containers`); further keywords are its options. Files take their "
        "names at the end, all together.");
  m.def("open_container", &open, py::arg("path"), py::arg("container") = "",
        "Opens the samples of a file, of all its shards, of a folder's files, or of files that "
        "match a pattern; further keywords are the container's options.");
  m.def(
      "container_of", [](const Path& path) { return container_of(path.string()); }, py::arg("path"),
      "Name of the container for the path's ending.");
  m.def("containers", [] { return containers().names(); });
}

}  // namespace d5::python
