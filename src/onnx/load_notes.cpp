// SPDX-License-Identifier: Apache-2.0
#include "d5/onnx/load_notes.hpp"

#include <memory>
#include <mutex>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "onnx/source.hpp"

namespace d5::onnx {
namespace {

std::mutex mutex;

std::shared_ptr<const NoteListener>& listener() {
  static std::shared_ptr<const NoteListener> one;
  return one;
}

}  // namespace

void listen_to_notes(NoteListener given) {
  const std::lock_guard lock(mutex);
  listener() = given ? std::make_shared<const NoteListener>(std::move(given)) : nullptr;
}

void detail::Source::note(const std::string& what) const {
  std::shared_ptr<const NoteListener> heard;  // called outside the lock, because it may take long
  {
    const std::lock_guard lock(mutex);
    heard = listener();
  }
  if (heard) (*heard)(printable(file), what);
}

}  // namespace d5::onnx
