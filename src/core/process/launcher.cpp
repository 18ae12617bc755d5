// SPDX-License-Identifier: Apache-2.0
#include "core/process/launcher.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <initializer_list>
#include <string_view>

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

int launched_ranks_here() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) {
    if (const char* text = std::getenv(name)) return std::atoi(text);
  }
  return 0;
}

std::string launcher_line(int ranks) {
  if (!std::getenv("OMPI_COMM_WORLD_SIZE") && std::getenv("SLURM_NTASKS")) {
    return fmt::format("srun -n {} ", ranks);
  }
  // Without it, Open MPI refuses more ranks than cores; with it, its ranks wait differently.
  const char* more = std::getenv("OMPI_MCA_rmaps_base_oversubscribe");
  const bool oversubscribed = more && std::string_view(more) == "1";
  return fmt::format("mpirun -np {} {}", ranks, oversubscribed ? "--oversubscribe " : "");
}

}  // namespace d5::detail
