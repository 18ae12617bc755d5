// SPDX-License-Identifier: Apache-2.0
#include "long_call.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <thread>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/interrupts/stop_on_signal.hpp"
#include "d5/level1_network/graph/execution_interrupt.hpp"
#include "errors.hpp"

namespace d5::python {
namespace {

/// Whether the interpreter is about to end; counts of other threads that are within long calls, and
/// of d5's own threads within Python.
std::atomic<bool> leaving = false;
std::atomic<int> threads_within = 0, visitors = 0;
thread_local bool is_visitor = false;

/// Cached, because asking the system takes longer than the rest of a short call. A fork has one
/// thread.
bool is_first_thread() {
  thread_local bool is_first = gettid() == getpid();
  static const int told = pthread_atfork(nullptr, nullptr, [] {
    is_first = true;
    threads_within = 0;
    visitors = is_visitor ? 1 : 0;
  });
  (void)told;
  return is_first;
}

bool interpreter_is_ending() {
#if PY_VERSION_HEX >= 0x030d0000
  return Py_IsFinalizing();
#else
  return _Py_IsFinalizing();
#endif
}

void stay_if_left_behind() {
  while (interpreter_is_ending() && !is_first_thread())
    std::this_thread::sleep_for(std::chrono::hours(1));
}

/// A long call of this thread; calls from a Python hook nest within the call that runs the hook.
class Call {
 public:
  explicit Call(Gil gil) : gil_(gil), outer_(innermost_) {
    innermost_ = this;
    if (!outer_ && !is_first_thread()) ++threads_within;
  }
  ~Call() {
    innermost_ = outer_;
    if (!outer_ && !is_first_thread()) --threads_within;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  static Call* innermost() { return innermost_; }

  /// Whether an exception was raised. At most every 50 ms, over this call and those before it, it
  /// runs Python's signal handlers, if this is the main thread, and lets other threads run if the
  /// call holds the GIL.
  bool ended() {
    constexpr double kSeconds = 0.05;
    if (raised_ || std::this_thread::get_id() != thread_) return raised_;
    if (leaving && !is_first_thread()) return true;
    const double now = now_seconds();
    if (now < asked_ + kSeconds) return false;
    asked_ = now;
    if (gil_ == Gil::held) const py::gil_scoped_release others;
    stay_if_left_behind();
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) end(py::error_already_set());
    return raised_;
  }
  void end(py::error_already_set what) {
    what_ = std::move(what);
    raised_ = true;
  }
  /// Blocks the thread if the interpreter is about to end: its caller no longer exists.
  void leave() {
    if (!leaving || is_first_thread() || is_visitor) return;
    if (gil_ == Gil::held) (void)PyEval_SaveThread();
    --threads_within;
    while (true) std::this_thread::sleep_for(std::chrono::hours(1));
  }
  void raise() {
    if (raised_) throw py::error_already_set(*what_);
  }

 private:
  inline static thread_local Call* innermost_ = nullptr;
  const Gil gil_;
  Call* outer_;
  const std::thread::id thread_ = std::this_thread::get_id();
  inline static thread_local double asked_ = 0;
  std::atomic<bool> raised_ = false;
  std::optional<py::error_already_set> what_;
};

bool in_main_thread() {
  const auto threading = py::module_::import("threading");
  return threading.attr("get_ident")().equal(threading.attr("main_thread")().attr("ident"));
}

}  // namespace

Visit::Visit() {
  if (is_first_thread() || is_visitor) return;
  if (Call::innermost() || PyGILState_Check() != 0) {
    stay_if_left_behind();
    return;
  }
  ++visitors;
  if (leaving) {
    --visitors;
    let_in_ = false;
  } else {
    counted_ = is_visitor = true;
  }
}

Visit::~Visit() {
  if (!counted_) return;
  is_visitor = false;
  --visitors;
}

void Visit::expect_let_in() const {
  if (!let_in_) throw Interrupted("Python is about to end");
}

void long_call(const std::function<void(const Interrupt&)>& work, Gil gil) {
  Call call(gil);
  const Interrupt interrupt{.wished = [&call] { return call.ended(); }};
  try {
    std::optional<py::gil_scoped_release> released;
    if (gil == Gil::released) released.emplace();
    try {
      work(interrupt);
    } catch (...) {
      call.leave();
      throw;
    }
    (void)call.ended();
    call.leave();
  } catch (...) {
    call.raise();
    throw;
  }
  call.raise();
}

void end_long_calls() {
  constexpr double kMostSeconds = 5;
  leaving = true;
  const py::gil_scoped_release released;
  const double begin = now_seconds();
  while (threads_within + visitors > 0 && now_seconds() < begin + kMostSeconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void long_call(GraphExecutor& executor, const std::function<void()>& work) {
  long_call([&](const Interrupt& interrupt) {
    const InterruptibleRuns within(executor, interrupt);
    work();
  });
}

void orderly_call(const std::function<void(const Interrupt&)>& work) {
  static bool listening = false;  // the main thread's
  if (!in_main_thread() || listening) {
    long_call(work);
    return;
  }
  listening = true;
  const std::unique_ptr<bool, void (*)(bool*)> at_end(&listening, [](bool* on) { *on = false; });
  const StopOnSignal first(SIGINT);
  try {
    long_call([&](Interrupt interrupt) {
      interrupt.token = first.token();
      work(interrupt);
    });
  } catch (const Interrupted&) {  // nothing had begun that needs an orderly end
    if (!first.token().stop_requested()) throw;
  }
  if (!first.token().stop_requested()) return;
  PyErr_SetInterrupt();
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

void pass_on(py::error_already_set& raised) {
  if (serves_program()) throw_as_d5(raised, "Python");
  Call* call = Call::innermost();
  if (call && !raised.matches(PyExc_Exception)) call->end(raised);
  if (dynamic_cast<RaisedInPython*>(&raised)) throw;
  throw RaisedInPython(raised);
}

}  // namespace d5::python
