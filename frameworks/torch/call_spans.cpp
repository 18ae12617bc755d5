// SPDX-License-Identifier: Apache-2.0
#include "call_spans.hpp"

#include <ATen/record_function.h>

#include <mutex>

namespace d5::torch {
namespace {

/// Span of a call.
struct CallSpan final : at::ObserverContext {
  explicit CallSpan(const char* name) : span("torch", name) {}
  Span span;
};

std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
  if (!Trace::on()) return nullptr;
  return std::make_unique<CallSpan>(function.name());
}

void end(const at::RecordFunction&, at::ObserverContext*) {}  // torch destroys the span

}  // namespace

std::atomic<bool> CallSpans::are_on_ = false;

void CallSpans::turn() {
  static std::mutex mutex;
  static at::CallbackHandle handle = 0;
  const std::lock_guard lock(mutex);
  const bool wanted = Trace::on();
  if (wanted == are_on_) return;
  if (wanted) {
    handle = at::addGlobalCallback(
        at::RecordFunctionCallback(begin, end)
            .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
  } else {
    at::removeCallback(handle);
  }
  are_on_ = wanted;
}

}  // namespace d5::torch
