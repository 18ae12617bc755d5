// SPDX-License-Identifier: Apache-2.0
#include "cuda_stream.hpp"

#include "d5/core/errors/error.hpp"

namespace d5::cuda {
namespace {

constexpr unsigned kNonBlocking = 1;    // CU_STREAM_NON_BLOCKING
constexpr unsigned kDisableTiming = 2;  // CU_EVENT_DISABLE_TIMING: waits are all that it is for

class CudaMoment final : public Moment {
 public:
  explicit CudaMoment(const CudaStream& stream) : device_(stream.device().index) {
    driver_.enter(device_);
    driver_.check(driver_.call().make_event(&event_, kDisableTiming), "no event can be made");
    const Result recorded = driver_.call().record(event_, stream.handle());
    if (recorded != Result::success) (void)driver_.call().end_event(event_);
    driver_.check(recorded, "an event cannot be recorded");
  }
  ~CudaMoment() override { (void)driver_.call().end_event(event_); }
  CudaMoment(const CudaMoment&) = delete;
  CudaMoment& operator=(const CudaMoment&) = delete;

  void wait() override {
    driver_.enter(device_);
    driver_.check(driver_.call().wait_for(event_), "work that was queued failed");
  }
  bool reached() override {
    driver_.enter(device_);
    const Result result = driver_.call().query(event_);
    if (result == Result::not_ready) return false;
    driver_.check(result, "work that was queued failed");
    return true;
  }
  [[nodiscard]] EventHandle event() const { return event_; }

 private:
  const Driver& driver_ = Driver::get();
  int device_;
  EventHandle event_ = nullptr;
};

}  // namespace

CudaStream::CudaStream(Device device) : device_(device) {
  const Driver& driver = Driver::get();
  driver.enter(device.index);
  driver.check(driver.call().make_stream(&handle_, kNonBlocking), "no stream can be made");
}

CudaStream::~CudaStream() { (void)Driver::get().call().end_stream(handle_); }

void CudaStream::synchronise() {
  const Driver& driver = Driver::get();
  driver.enter(device_.index);
  driver.check(driver.call().synchronise(handle_), "work that was queued failed");
}

std::shared_ptr<Moment> CudaStream::record() { return std::make_shared<CudaMoment>(*this); }

void CudaStream::wait(const std::shared_ptr<Moment>& moment) {
  const auto* own = dynamic_cast<const CudaMoment*>(moment.get());
  if (!own) {
    moment->wait();
    return;
  }
  const Driver& driver = Driver::get();
  driver.enter(device_.index);
  driver.check(driver.call().stream_waits(handle_, own->event(), 0), "a stream cannot wait");
}

}  // namespace d5::cuda
