// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/schemes/topology.hpp"
#include "level3_distributed/schemes/mixing/edge_file.hpp"

namespace d5 {
namespace {

struct FileOptions {
  std::string path;
  void declare(OptionList& options) {
    options.add("path", path, "text file of edges, two ranks per line");
  }
};

}  // namespace

namespace topology {

void register_file(Registry<TopologyEntry>& registry) {
  registry.add("file", TopologyEntry::with<FileOptions>(
                           "edges from a text file, with Metropolis weights",
                           [](int ranks, const FileOptions& options) {
                             return MixingMatrix::metropolis(
                                 ranks, detail::read_edges(options.path, ranks));
                           }));
}

}  // namespace topology
}  // namespace d5
