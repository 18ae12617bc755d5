// SPDX-License-Identifier: Apache-2.0
#include "monitoring.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <mpi.h>

#include <cstdlib>
#include <string>

#include "d5/core/errors/error.hpp"
#include "mpi_runtime.hpp"

namespace d5::mpi {
namespace {

constexpr const char* kSwitch = "OMPI_MCA_pml_monitoring_enable";
constexpr const char* kBytes = "pml_monitoring_messages_size";

/// A symbol of a library that is already loaded; null if there is none.
void* symbol_of(const char* library, const char* name) {
  struct Search {
    const char* library;
    std::string path;
  } search{library, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& wanted = *static_cast<Search*>(data);
        if (std::string(info->dlpi_name).find(wanted.library) == std::string::npos) return 0;
        wanted.path = info->dlpi_name;
        return 1;
      },
      &search);
  if (search.path.empty()) return nullptr;
  void* handle = dlopen(search.path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  return handle ? dlsym(handle, name) : nullptr;
}

int index_of_bytes() {
  int index = -1;
  return MPI_T_pvar_get_index(kBytes, MPI_T_PVAR_CLASS_SIZE, &index) == MPI_SUCCESS ? index : -1;
}

/// Announces the component's variables again: Open MPI 4 withdraws the variables of a component
/// that is not selected, and this one never is, as it wraps the selected one.
int announced_index_of_bytes() {
  const int index = index_of_bytes();
  if (index >= 0) return index;
  void* component = symbol_of("mca_pml_monitoring", "mca_pml_monitoring_component");
  void* announce = symbol_of("libmca_common_monitoring", "mca_common_monitoring_register");
  if (!component || !announce) return -1;
  reinterpret_cast<void (*)(void*)>(announce)(component);
  return index_of_bytes();
}

/// The counter of all ranks' bytes, from the first use to the end of the process.
class SentBytes {
 public:
  SentBytes() {
    const char* on = std::getenv(kSwitch);
    if (!on || std::string(on) == "0") {
      throw Unsupported(
          fmt::format("MPI's own traffic is not counted; enable counting before MPI starts (d5 ... "
                      "--mpi-bytes, count_library_traffic(), {}=1)",
                      kSwitch));
    }
    int provided = 0;
    MPI_T_init_thread(MPI_THREAD_SERIALIZED, &provided);
    const int index = announced_index_of_bytes();
    int length = 0;
    if (index < 0 || MPI_T_pvar_session_create(&session_) != MPI_SUCCESS ||
        MPI_T_pvar_handle_alloc(session_, index, &world_, &variable_, &length) != MPI_SUCCESS ||
        MPI_T_pvar_start(session_, variable_) != MPI_SUCCESS) {
      throw Unsupported(fmt::format(
          "{} has no '{}'; Open MPI 4 with its component 'monitoring' does", library(), kBytes));
    }
    bytes_.resize(static_cast<std::size_t>(length));
  }

  std::vector<std::int64_t> read() {
    if (MPI_T_pvar_read(session_, variable_, bytes_.data()) != MPI_SUCCESS) {
      throw Unsupported(fmt::format("{} does not report '{}'", library(), kBytes));
    }
    return {bytes_.begin(), bytes_.end()};
  }

 private:
  MPI_Comm world_ = MPI_COMM_WORLD;
  MPI_T_pvar_session session_ = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_handle variable_ = MPI_T_PVAR_HANDLE_NULL;
  std::vector<unsigned long long> bytes_;  // the variable's type
};

}  // namespace

void Monitoring::enable() {
  if (running()) {
    throw ValueError(
        "count_library_traffic: MPI is running already; call it before world(), or set "
        "OMPI_MCA_pml_monitoring_enable=1");
  }
  setenv(kSwitch, "1", 1);  // 1: messages inside collectives and others together
}

std::vector<std::int64_t> Monitoring::bytes_sent() {
  expect_running("library_bytes_sent");
  static SentBytes bytes;
  return bytes.read();
}

}  // namespace d5::mpi
