// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/transport/launcher.hpp"

#include <cstdlib>
#include <initializer_list>

namespace d5::detail {

int launched_ranks() {
  // Open MPI's mpirun; MPICH's and others of the PMI family; Slurm's srun with a PMI.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const char* text = std::getenv(name)) return std::atoi(text);
  }
  if (std::getenv("PMIX_RANK")) {
    const char* tasks = std::getenv("SLURM_NTASKS");
    return tasks ? std::atoi(tasks) : 1;
  }
  return 0;
}

}  // namespace d5::detail
