// SPDX-License-Identifier: Apache-2.0
#include "prediction/simulation/fiber.hpp"

#include <cxxabi.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "core/trace/thread_trace.hpp"
#include "d5/core/errors/error.hpp"
#include "level3_distributed/decorators/step_of_thread.hpp"

namespace d5::detail {
namespace {

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

Fiber::Fiber(std::function<void()> body, std::size_t stack_bytes) : body_(std::move(body)) {
  const std::size_t page = page_bytes();
  memory_bytes_ = (stack_bytes + page - 1) / page * page + page;
  memory_ = mmap(nullptr, memory_bytes_, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory_ == MAP_FAILED) {
    throw MemoryError(
        fmt::format("a simulated rank's stack of {} bytes: {}; simulate fewer ranks, or set "
                    "stack_bytes lower",
                    stack_bytes, std::strerror(errno)));
  }
  if (mprotect(memory_, page, PROT_NONE) != 0) {
    munmap(memory_, memory_bytes_);
    throw MemoryError(
        fmt::format("a simulated rank's stack cannot be guarded: {}; vm.max_map_count limits the "
                    "number of simulated ranks",
                    std::strerror(errno)));
  }
  getcontext(&own_);
  own_.uc_stack.ss_sp = static_cast<char*>(memory_) + page;
  own_.uc_stack.ss_size = memory_bytes_ - page;
  own_.uc_link = nullptr;
  stack_switch_.emplace(own_.uc_stack.ss_sp, own_.uc_stack.ss_size);
  const auto address = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&own_, reinterpret_cast<void (*)()>(&Fiber::enter), 2,
              static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
}

Fiber::~Fiber() {
  stack_switch_.reset();
  munmap(memory_, memory_bytes_);
}

void Fiber::enter(unsigned high, unsigned low) {
  auto* self = reinterpret_cast<Fiber*>((static_cast<std::uintptr_t>(high) << 32) | low);
  self->stack_switch_->in_fiber();
  self->body_();
  self->ended_ = true;
  self->suspend();  // for ever
}

void Fiber::resume() {
  exchange_thread_state();
  stack_switch_->to_fiber();
  swapcontext(&resumer_, &own_);
  stack_switch_->in_resumer();
}

void Fiber::suspend() {
  exchange_thread_state();
  stack_switch_->to_resumer(ended_ ? StackSwitch::Next::has_ended : StackSwitch::Next::comes_back);
  swapcontext(&own_, &resumer_);
  stack_switch_->in_fiber();
}

void Fiber::exchange_thread_state() {
  std::array<std::byte, sizeof(state_.exceptions)> present;
  void* const of_thread = abi::__cxa_get_globals();
  std::memcpy(present.data(), of_thread, present.size());
  std::memcpy(of_thread, state_.exceptions.data(), present.size());
  state_.exceptions = present;
  std::swap(trace_of_thread(), state_.trace);
  std::swap(step_of_thread(), state_.step);
}

}  // namespace d5::detail
