// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/communicator/progress_thread.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include "level3_distributed/communicator/call_thread.hpp"
#include "level3_distributed/communicator/patience.hpp"
#include "level3_distributed/communicator/schedules_under_way.hpp"

namespace d5 {

ProgressThread::ProgressThread(std::shared_ptr<Communicator> inner,
                               const ProgressThreadOptions& options)
    : CommunicatorDecorator(std::move(inner)),
      thread_(std::make_shared<detail::CallThread>(schedules_under_way(), options.place)),
      owner_(true) {
  schedules_under_way()->on_added([thread = thread_.get()] { thread->wake(); });
}

ProgressThread::ProgressThread(std::shared_ptr<Communicator> inner,
                               std::shared_ptr<detail::CallThread> thread)
    : CommunicatorDecorator(std::move(inner)), thread_(std::move(thread)) {}

ProgressThread::~ProgressThread() {
  if (owner_) thread_->stop();
}

const std::string& ProgressThread::pinning() const { return thread_->pinning(); }

class ProgressThread::AnsweringRequest final : public Request {
 public:
  AnsweringRequest(ProgressThread& owner, std::unique_ptr<Request> request)
      : owner_(owner), request_(std::move(request)) {}
  void wait() override {
    detail::Patience patience(detail::Patience::kOfWork);
    while (!done()) patience.pause();
    request_->wait();
  }
  bool done() override {
    constexpr auto kBetween = std::chrono::milliseconds(5);
    if (request_->done()) return true;
    const auto now = std::chrono::steady_clock::now();
    if (now - answered_ >= kBetween) {
      owner_.answer_end();
      answered_ = now;
    }
    return false;
  }
  Times times() const override { return request_->times(); }
  std::optional<UsedResources> used() const override { return request_->used(); }

 private:
  ProgressThread& owner_;
  std::unique_ptr<Request> request_;
  std::chrono::steady_clock::time_point answered_ = std::chrono::steady_clock::now();
};

std::unique_ptr<Request> ProgressThread::watch(const CommunicationCall&,
                                               std::unique_ptr<Request> request) {
  return std::make_unique<AnsweringRequest>(*this, std::move(request));
}

void ProgressThread::tell_failure() {
  on_thread([this] { inner().tell_failure(); });
}

void ProgressThread::forget_failures() {
  on_thread([this] { inner().forget_failures(); });
}

void ProgressThread::answer_end() {
  on_thread([this] { inner().answer_end(); });
}

bool ProgressThread::end_together(bool wishes) {
  bool ends = false;
  on_thread([&] { ends = inner().end_together(wishes); });
  return ends;
}

void ProgressThread::on_thread(const std::function<void()>& what) {
  thread_
      ->start([&]() -> std::unique_ptr<Request> {
        what();
        return nullptr;
      })
      ->wait();
}

std::unique_ptr<Request> ProgressThread::do_start(const CommunicationCall& call) {
  return thread_->start([this, call] { return start_inner(call); });
}

void ProgressThread::do_run(const CommunicationCall& call) { do_start(call)->wait(); }

std::shared_ptr<Communicator> ProgressThread::do_split(int color, int order) {
  std::shared_ptr<Communicator> group;
  on_thread([&] { group = CommunicatorDecorator::do_split(color, order); });
  return group;
}

std::shared_ptr<Communicator> ProgressThread::do_group(const std::vector<int>& ranks) {
  std::shared_ptr<Communicator> group;
  thread_
      ->start([&]() -> std::unique_ptr<Request> {
        group = CommunicatorDecorator::do_group(ranks);
        return nullptr;
      })
      ->wait();
  return group;
}

std::shared_ptr<Communicator> ProgressThread::decorate(std::shared_ptr<Communicator> group) {
  return std::shared_ptr<Communicator>(new ProgressThread(std::move(group), thread_));
}

}  // namespace d5
