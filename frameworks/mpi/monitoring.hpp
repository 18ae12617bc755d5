// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level3_distributed/communicator/library_traffic.hpp"

namespace d5::mpi {

/// Open MPI's component "monitoring", which counts each message of its collectives. Messages of
/// components that bypass it (sm, hcoll, UCC; none is a default) are not seen.
///
/// Source: Bosilca et al., "Online Dynamic Monitoring of MPI Communications" (Euro-Par 2017).
class Monitoring final : public LibraryTraffic {
 public:
  void enable() override;
  [[nodiscard]] std::vector<std::int64_t> bytes_sent() override;
};

}  // namespace d5::mpi
