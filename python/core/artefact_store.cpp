// SPDX-License-Identifier: Apache-2.0
#include "d5/core/files/artefact_store.hpp"

#include <fmt/format.h>

#include <optional>

#include "long_call.hpp"
#include "row_dicts.hpp"

namespace d5::python {
namespace {

void describe_asset(Values& row, const Asset& asset) {
  row["name"] = asset.name;
  row["sha256"] = asset.sha256;
  row["bytes"] = asset.bytes;
  row["urls"] = asset.urls;
}

Values row_of_asset(const Asset& asset) {
  Values row;
  describe_asset(row, asset);
  return row;
}

std::string fetch_artefact(const ArtefactStore& store, const std::string& sha256,
                           std::vector<std::string> urls, std::string name, std::uint64_t bytes,
                           bool unpack) {
  if (name.empty() && !urls.empty()) name = Path(urls.front()).filename().string();
  const Asset asset{
      .name = std::move(name), .urls = std::move(urls), .bytes = bytes, .sha256 = sha256};
  std::string path;
  long_call([&](const Interrupt& interrupt) {
    path = store.fetch(asset, interrupt);
    if (unpack) path = store.unpack(sha256, std::uint64_t{1} << 36, interrupt);
  });
  return path;
}

Values add_artefact(const ArtefactStore& store, const Path& file) {
  Asset asset;
  long_call([&](const Interrupt& interrupt) { asset = store.add(file.string(), interrupt); });
  return row_of_asset(asset);
}

RowDicts artefact_faults(const ArtefactStore& store) {
  std::vector<ArtefactStore::Fault> found;
  long_call([&](const Interrupt& interrupt) { found = store.verify(interrupt); });
  return rows_of(found, [](Values& row, const ArtefactStore::Fault& fault) {
    describe_asset(row, fault.asset);
    row["reason"] = fault.reason;
  });
}

RowDicts collect_artefacts(const ArtefactStore& store, std::uint64_t most_bytes,
                           const std::vector<std::string>& keep) {
  for (const std::string& digest : keep) check_digest(digest, "keep");
  std::vector<Asset> removed;
  {
    const py::gil_scoped_release released;
    removed = store.collect(most_bytes, keep);
  }
  return rows_of(removed, describe_asset);
}

}  // namespace

void bind_artefact_store(py::module_& m) {
  py::class_<ArtefactStore>(m, "ArtefactStore",
                            "Cache of files by the SHA-256 of their bytes: `d5 artefact`. Several "
                            "processes may use one folder.")
      .def(py::init([](const std::optional<Path>& folder) {
             return folder ? ArtefactStore(folder->string()) : ArtefactStore();
           }),
           py::arg("folder") = py::none(),
           "Opens the store in a folder; by default the user's ($D5_CACHE_DIR).")
      .def_property_readonly("folder", &ArtefactStore::folder, "Path of the folder.")
      .def("add", &add_artefact, py::arg("file"),
           "Puts a copy of a file into the store. Returns its name, sha256 and bytes, as a "
           "manifest needs them.")
      .def("fetch", &fetch_artefact, py::arg("sha256"),
           py::arg("urls") = std::vector<std::string>{}, py::kw_only(), py::arg("name") = "",
           py::arg("bytes") = 0, py::arg("unpack") = false,
           "Returns the path of a file after checking its digest. A missing file is downloaded "
           "from the first of `urls` that has it. With unpack=True returns the folder of an "
           "archive's files.")
      .def("has", &ArtefactStore::has, py::arg("sha256"),
           "Whether the store has a file of that digest; its bytes are not read.")
      .def("path_of", &ArtefactStore::path_of, py::arg("sha256"),
           "Path at which the file is, or would be.")
      .def(
          "held",
          [](const ArtefactStore& store) {
            return rows_of(store.list(), [](Values& row, const ArtefactStore::Held& held) {
              describe_asset(row, held.asset);
              row["used"] = held.used;
            });
          },
          "A dict per file, most recently used first; `used` in s since 1970.")
      .def("verify", &artefact_faults, "A dict per file whose bytes no longer match its digest.")
      .def("collect", &collect_artefacts, py::arg("most_bytes"), py::kw_only(),
           py::arg("keep") = std::vector<std::string>{},
           "Removes the least recently used files until at most most_bytes remain, but none of the "
           "digests in `keep`. Returns what was removed: `d5 artefact gc`.")
      .def("__repr__", [](const ArtefactStore& store) {
        return fmt::format("<d5.ArtefactStore {}>", printable(store.folder()));
      });
}

}  // namespace d5::python
