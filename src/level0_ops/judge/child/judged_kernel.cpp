// SPDX-License-Identifier: Apache-2.0
// The process of a judged source: loads its library, and runs one call after another on shared
// memory. Links nothing of d5: the reference, the seed and the clock are in the judge's process.
// The judge trusts nothing here once the library is loaded.
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <optional>
#include <vector>

#include "d5/abi.h"
#include "level0_ops/judge/child/confinement.hpp"
#include "level0_ops/judge/child/node_attributes.hpp"
#include "level0_ops/judge/child/tensor_pages.hpp"
#include "level0_ops/judge/protocol.hpp"

namespace d5::judged {
namespace {

const Orders* orders;
Answers* answers;
int inputs, outputs;  // descriptors of the tensors' memory

/// Hands over to the judge, which freezes all threads until its next order.
void stop() { ::kill(::getpid(), SIGSTOP); }

[[noreturn]] void give_up(int status, const char* message) {
  answers->status = status;
  std::snprintf(answers->message, sizeof answers->message, "%s", message);
  ::_exit(1);
}

/// Room for the descriptors of one message.
struct Control {
  alignas(cmsghdr) char bytes[CMSG_SPACE(sizeof(int) * kPassedCount)] = {};
};

/// Takes the judge's descriptors from the socket that is the standard input.
void take_memory() {
  int passed[kPassedCount];
  char byte = 0;
  iovec data{&byte, 1};
  Control control;
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  const ssize_t count = ::recvmsg(STDIN_FILENO, &message, MSG_CMSG_CLOEXEC);
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (count != 1 || !header || header->cmsg_len != CMSG_LEN(sizeof passed)) ::_exit(2);
  std::memcpy(passed, CMSG_DATA(header), sizeof passed);
  void* read = ::mmap(nullptr, sizeof(Orders), PROT_READ, MAP_SHARED, passed[kOrders], 0);
  void* written =
      ::mmap(nullptr, sizeof(Answers), PROT_READ | PROT_WRITE, MAP_SHARED, passed[kAnswers], 0);
  if (read == MAP_FAILED || written == MAP_FAILED) ::_exit(2);
  orders = static_cast<const Orders*>(read);
  answers = static_cast<Answers*>(written);
  inputs = passed[kInputs];
  outputs = passed[kOutputs];
  ::close(passed[kOrders]);
  ::close(passed[kAnswers]);
}

/// Sends the descriptor to the judge.
bool send(int descriptor) {
  char byte = 0;
  iovec data{&byte, 1};
  Control control;
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = CMSG_SPACE(sizeof descriptor);
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  return ::sendmsg(STDIN_FILENO, &message, 0) == 1;
}

/// Notes where memory was wrongly accessed, and dies of it.
void note_fault(int, siginfo_t* info, void*) {
  answers->fault_address = reinterpret_cast<std::uint64_t>(info->si_addr);
}

void set_limits() {
  constexpr rlim_t kDescriptors = 64;
  const rlimit none{0, 0}, few{kDescriptors, kDescriptors};
  ::setrlimit(RLIMIT_CORE, &none);
  ::setrlimit(RLIMIT_FSIZE, &none);
  ::setrlimit(RLIMIT_NOFILE, &few);
  struct sigaction noted{};
  noted.sa_sigaction = note_fault;
  noted.sa_flags = SA_SIGINFO | static_cast<int>(SA_RESETHAND);
  for (const int number : {SIGSEGV, SIGBUS}) ::sigaction(number, &noted, nullptr);
}

/// Confines this process. Its last message to the judge is the filter's descriptor.
void enter_confinement() {
  const int listener = confine(orders->most_threads);
  if (listener < 0) give_up(D5_UNSUPPORTED, "this system has no seccomp filter with a listener");
  if (!send(listener)) ::_exit(2);
  ::close(listener);
  ::close(STDIN_FILENO);
}

/// The entry of the library's table with the case's operator, and its instances.
class Library {
 public:
  Library() {
    void* library = ::dlopen(kLibraryPath, RTLD_NOW | RTLD_LOCAL);
    if (!library) give_up(D5_OTHER_ERROR, ::dlerror());
    const auto entry =
        reinterpret_cast<const d5_operator_table* (*)()>(::dlsym(library, "d5_custom_operators"));
    const d5_operator_table* table = entry ? entry() : nullptr;
    if (!table) {
      give_up(
          D5_UNSUPPORTED,
          "it exports no operators; end the source with D5_OPERATOR(Name<float>) of d5/abi.hpp, "
          "or define d5_custom_operators of d5/abi.h");
    }
    if (table->abi_version != D5_ABI_VERSION) {
      give_up(D5_UNSUPPORTED, "its operators are of another version of d5/abi.h; compile it again");
    }
    const auto* bytes = reinterpret_cast<const char*>(table->operators);
    for (std::size_t i = 0; i < table->operator_count; ++i) {
      d5_operator one{};
      std::memcpy(&one, bytes + i * table->operator_size,
                  std::min(sizeof one, table->operator_size));
      if (one.name && one.forward) operators_.push_back(one);
    }
  }

  /// Makes the instance for the present case, once.
  void make_instance() {
    if (instances_.contains(orders->case_index)) return;
    const auto found = std::ranges::find_if(operators_, [](const d5_operator& one) {
      return std::strcmp(one.name, orders->name) == 0;
    });
    if (found == operators_.end()) give_up(D5_NOT_FOUND, "it has no operator of the case's name");
    Instance instance{&*found, nullptr};
    if (found->create) {
      const NodeAttributes attributes(*orders);
      const d5_node node{sizeof(d5_node),
                         "",
                         orders->name,
                         orders->opset,
                         orders->input_count,
                         orders->output_count,
                         attributes.all().data(),
                         attributes.all().size(),
                         nullptr};
      d5_error error{};
      const d5_status status = found->create(&node, &instance.self, &error);
      if (status != D5_OK) give_up(status, error.message);
    }
    instances_.emplace(orders->case_index, instance);
  }

  /// Runs forward or backward on the mapped tensors.
  void run(const std::vector<d5_tensor>& tensors) {
    const Instance& instance = instances_.at(orders->case_index);
    d5_call call{};
    call.size = sizeof call;
    call.inputs = tensors.data();
    call.input_count = orders->input_count;
    call.outputs = tensors.data() + orders->input_count;
    call.output_count = orders->output_count;
    call.device = {D5_CPU, 0};
    if (orders->order == Order::backward) {
      call.grad_outputs = call.outputs + orders->output_count;
      call.grad_inputs = call.grad_outputs + orders->output_count;
    }
    const auto run =
        orders->order == Order::backward ? instance.op->backward : instance.op->forward;
    if (!run) give_up(D5_UNSUPPORTED, "it has no backward");
    d5_error error{};
    const d5_status status = run(instance.self, &call, &error);
    answers->status = status;
    if (status != D5_OK) std::memcpy(answers->message, error.message, sizeof answers->message);
  }

 private:
  struct Instance {
    const d5_operator* op;
    void* self;
  };
  std::vector<d5_operator> operators_;
  std::map<int, Instance> instances_;
};

/// The tensors of a call.
class Mapped {
 public:
  Mapped() {
    for (std::uint32_t i = 0; i < orders->tensor_count; ++i) {
      const Placed& placed = orders->tensors[i];
      d5_tensor tensor{nullptr, placed.dims, placed.rank, placed.dtype};
      if (placed.dtype != 0) {
        const bool is_read = i < orders->read_count;
        pages_.emplace_back(placed, is_read ? inputs : outputs,
                            is_read ? TensorPages::Access::read : TensorPages::Access::write);
        tensor.data = pages_.back().data();
        if (!tensor.data) give_up(D5_OTHER_ERROR, "its limit of memory leaves no room for tensors");
      } else {
        tensor.dims = nullptr;
      }
      tensors_.push_back(tensor);
    }
  }
  [[nodiscard]] const std::vector<d5_tensor>& tensors() const { return tensors_; }

 private:
  std::vector<TensorPages> pages_;
  std::vector<d5_tensor> tensors_;
};

[[noreturn]] void serve() {
  enter_confinement();
  Library library;
  std::optional<Mapped> mapped;
  for (;;) {
    stop();
    if (orders->order == Order::prepare) {
      mapped.reset();
      mapped.emplace();
      library.make_instance();
    } else {
      library.run(mapped->tensors());
      answers->returned = orders->number;
    }
  }
}

}  // namespace
}  // namespace d5::judged

int main() {
  using namespace d5::judged;
  take_memory();
  set_limits();
  answers->landlock = seal_files();
  do stop();
  while (orders->order == Order::nothing);
  try {
    serve();
  } catch (const std::exception& thrown) {
    give_up(D5_OTHER_ERROR, thrown.what());
  } catch (...) {
    give_up(D5_OTHER_ERROR, "it threw something other than a std::exception");
  }
}
