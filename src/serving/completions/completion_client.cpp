// SPDX-License-Identifier: Apache-2.0
#include "serving/completions/completion_client.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <ctime>
#include <exception>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/files/curl_handle.hpp"
#include "core/thread_pool/new_thread.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

constexpr int kRefused = 300;
constexpr std::size_t kMostRefusal = std::size_t{1} << 16;  // bytes of a refusal's body that count

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

using Clock = std::chrono::steady_clock;
using MultiHandle = std::unique_ptr<CURLM, decltype(&curl_multi_cleanup)>;

}  // namespace

class CompletionClient::Running {
 public:
  Running(Options options, Hear hear, End end)
      : options_(std::move(options)),
        hear_(std::move(hear)),
        end_(std::move(end)),
        headers_(curl_lines(header_lines(options_.token))),
        multi_(nullptr, libcurl().multi_cleanup) {
    (void)open_curl();  // starts the library
    multi_.reset(libcurl().multi_init());
    if (!multi_) throw IoError("libcurl cannot be started");
    thread_ =
        new_thread<std::jthread>("openai", [this](const std::stop_token& stop) { run(stop); });
  }
  ~Running() {
    thread_.request_stop();
    libcurl().multi_wakeup(multi_.get());
    thread_.join();
    for (const auto& [curl, transfer] : transfers_) {
      libcurl().multi_remove_handle(multi_.get(), curl);
    }
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void ask(std::int64_t id, std::string body) {
    {
      const std::lock_guard lock(mutex_);
      asked_.emplace_back(id, std::move(body));
    }
    libcurl().multi_wakeup(multi_.get());
  }
  [[nodiscard]] double busy_seconds() const { return busy_seconds_; }

 private:
  /// A request under way.
  struct Transfer {
    Running* client;
    std::int64_t id;
    std::string body;
    CurlHandle handle;
    Clock::time_point heard = Clock::now();  ///< when the last byte arrived, or the request began
    std::string refusal = {}, fault = {};
    std::array<char, CURL_ERROR_SIZE> reason = {};
  };

  static std::vector<std::string> header_lines(const std::string& token) {
    std::vector<std::string> lines = {"Content-Type: application/json", "Accept: text/event-stream",
                                      "Expect:"};  // asks for no leave first: a round trip
    if (!token.empty()) lines.push_back("Authorization: Bearer " + token);
    return lines;
  }

  static int status_of(CURL* curl) {
    long status = 0;
    libcurl().easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    return int(status);
  }

  static std::size_t take(char* data, std::size_t size, std::size_t count, void* into) {
    auto& transfer = *static_cast<Transfer*>(into);
    transfer.heard = Clock::now();
    const std::string_view bytes(data, size * count);
    if (status_of(transfer.handle.get()) >= kRefused) {
      const std::size_t room = kMostRefusal - transfer.refusal.size();
      transfer.refusal += bytes.substr(0, room);
      return bytes.size();
    }
    try {
      transfer.client->hear_(transfer.id, bytes);
    } catch (const std::exception& error) {
      transfer.fault = error.what();
      return 0;  // ends the transfer
    }
    return bytes.size();
  }

  void run(const std::stop_token& stop) {
    prctl(PR_SET_TIMERSLACK, 1);
    int going = 0;
    while (!stop.stop_requested()) {
      begin_asked();
      libcurl().multi_perform(multi_.get(), &going);
      end_finished();
      end_silent();
      busy_seconds_ = thread_seconds();
      libcurl().multi_poll(multi_.get(), nullptr, 0, milliseconds_to_wait(), nullptr);
    }
  }

  /// Until the next answer can have been silent for too long. `ask` and the end wake the thread.
  [[nodiscard]] int milliseconds_to_wait() const {
    constexpr std::chrono::milliseconds kLongest(1000);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_silent_ - Clock::now());
    return int(std::clamp(left, std::chrono::milliseconds(0), kLongest).count());
  }

  /// Ends the answers of which no byte came for `seconds`. libcurl's limit of a speed is an average
  /// over time, which ends them late.
  void end_silent() {
    const auto now = Clock::now();
    if (now < next_silent_) return;
    const auto most = std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(options_.seconds));
    next_silent_ = now + most;  // a request may begin now
    std::vector<CURL*> silent;
    for (const auto& [curl, transfer] : transfers_) {
      const auto end = transfer->heard + most;
      if (end <= now) {
        silent.push_back(curl);
      } else {
        next_silent_ = std::min(next_silent_, end);
      }
    }
    for (CURL* const curl : silent) {
      libcurl().multi_remove_handle(multi_.get(), curl);
      const auto transfer = std::move(transfers_.extract(curl).mapped());
      end_(transfer->id, 0, fmt::format("no byte of the answer came for {} s", options_.seconds));
    }
  }

  void begin_asked() {
    std::vector<std::pair<std::int64_t, std::string>> asked;
    {
      const std::lock_guard lock(mutex_);
      std::swap(asked, asked_);
    }
    for (auto& [id, body] : asked) begin(id, std::move(body));
  }

  void begin(std::int64_t id, std::string body) {
    auto transfer = std::make_unique<Transfer>(
        Transfer{.client = this, .id = id, .body = std::move(body), .handle = open_curl()});
    CURL* const curl = transfer->handle.get();
    libcurl().easy_setopt(curl, CURLOPT_URL, options_.url.c_str());
    libcurl().easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "https,http");
    libcurl().easy_setopt(curl, CURLOPT_NOPROXY, "*");  // what is measured is this server alone
    libcurl().easy_setopt(curl, CURLOPT_HTTPHEADER, headers_.get());
    libcurl().easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(transfer->body.size()));
    libcurl().easy_setopt(curl, CURLOPT_POSTFIELDS, transfer->body.data());
    libcurl().easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 20L);
    libcurl().easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    libcurl().easy_setopt(curl, CURLOPT_ERRORBUFFER, transfer->reason.data());
    libcurl().easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    libcurl().easy_setopt(curl, CURLOPT_WRITEDATA, transfer.get());
    libcurl().multi_add_handle(multi_.get(), curl);
    transfers_.emplace(curl, std::move(transfer));
  }

  void end_finished() {
    int left = 0;
    while (const CURLMsg* message = libcurl().multi_info_read(multi_.get(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode code = message->data.result;
      CURL* const curl = message->easy_handle;
      libcurl().multi_remove_handle(multi_.get(), curl);
      const auto transfer = std::move(transfers_.extract(curl).mapped());
      const int status = status_of(curl);
      std::string reason = transfer->fault;
      if (reason.empty() && status >= kRefused) reason = transfer->refusal;
      if (reason.empty() && code != CURLE_OK) {
        reason = transfer->reason[0] ? transfer->reason.data() : libcurl().easy_strerror(code);
      }
      end_(transfer->id, status, reason);
    }
  }

  const Options options_;
  const Hear hear_;
  const End end_;
  CurlLines headers_;
  MultiHandle multi_;
  std::mutex mutex_;  ///< guards `asked_`
  std::vector<std::pair<std::int64_t, std::string>> asked_;
  std::unordered_map<CURL*, std::unique_ptr<Transfer>> transfers_;
  Clock::time_point next_silent_ = {};  ///< no answer has been silent for too long before
  std::atomic<double> busy_seconds_ = 0;
  std::jthread thread_;
};

CompletionClient::CompletionClient(Options options, Hear hear, End end)
    : running_(std::make_unique<Running>(std::move(options), std::move(hear), std::move(end))) {}
CompletionClient::~CompletionClient() = default;
void CompletionClient::ask(std::int64_t id, std::string body) {
  running_->ask(id, std::move(body));
}
double CompletionClient::busy_seconds() const { return running_->busy_seconds(); }

}  // namespace d5::detail
