// SPDX-License-Identifier: Apache-2.0
#include "runtime.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>

#include "d5/core/machine/threads.hpp"

namespace d5::tensorflow {
namespace {

std::atomic<int> wanted_threads = 0;
std::mutex mutex;
std::shared_ptr<Runtime> runtime;  // guarded by `mutex`

/// The fields of a serialized protocol buffer message. Source: Protocol Buffers, "Encoding".
class Message {
 public:
  Message& number(int field, std::int64_t value) {
    varint(std::uint64_t(field) << 3);
    varint(std::uint64_t(value));
    return *this;
  }
  Message& message(int field, const Message& value) {
    varint((std::uint64_t(field) << 3) | 2);
    varint(value.bytes_.size());
    bytes_ += value.bytes_;
    return *this;
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += char(value | 0x80);
    bytes_ += char(value);
  }
  std::string bytes_;
};

}  // namespace

std::string config_of(int threads) {
  // Numbers of fields in tensorflow/core/protobuf/config.proto and rewriter_config.proto.
  const Message optimizer_options = Message().number(5, -1);  // global_jit_level: off
  const Message rewrite_options = Message().number(19, 1);    // disable_meta_optimizer
  const Message graph_options =
      Message().message(3, optimizer_options).message(10, rewrite_options);
  const Message experimental = Message().number(9, 1);  // disable_thread_spinning
  return Message()
      .number(2, threads)  // intra_op_parallelism_threads
      .number(5, -1)       // inter_op_parallelism_threads: the caller's thread
      .message(10, graph_options)
      .message(16, experimental)
      .bytes();
}

Runtime::Runtime(int threads) : threads_(threads) {
  const std::unique_ptr<TFE_ContextOptions, Deleter<TFE_DeleteContextOptions>> options(
      TFE_NewContextOptions());
  const Status status;
  const std::string config = config_of(threads);
  TFE_ContextOptionsSetConfig(options.get(), config.data(), config.size(), status);
  status.expect_supported("TensorFlow's eager runtime");
  context_.reset(TFE_NewContext(options.get(), status));
  status.expect_supported("TensorFlow's eager runtime");
}

std::shared_ptr<Runtime> Runtime::current() {
  const std::lock_guard lock(mutex);
  if (!runtime || !runtime->is_current()) runtime = std::make_shared<Runtime>(wanted_threads);
  return runtime;
}

bool Runtime::is_current() const { return threads_ == wanted_threads; }

void follow_threads() {
  on_threads_changed([](int count) { wanted_threads = count; });
}

}  // namespace d5::tensorflow
