// SPDX-License-Identifier: Apache-2.0
#include "core/trace/record_log.hpp"

#include <cstring>

namespace d5::detail {
namespace {

PackedRecord::Head head_at(const char* place) {
  PackedRecord::Head head;
  std::memcpy(&head, place, sizeof head);
  return head;
}

}  // namespace

void RecordLog::add(const PackedRecord& record) {
  const std::size_t bytes = sizeof record.head + record.body.size();
  if (blocks_.empty() || blocks_.back().used + bytes > kBlockBytes) {
    if (spare_.empty()) spare_.emplace_back();
    blocks_.splice(blocks_.end(), spare_, spare_.begin());
    blocks_.back().used = 0;
  }
  Block& block = blocks_.back();
  PackedRecord::Head head = record.head;
  head.body_bytes = static_cast<std::uint32_t>(record.body.size());
  char* const place = block.bytes.data() + block.used;
  std::memcpy(place, &head, sizeof head);
  std::memcpy(place + sizeof head, record.body.data(), record.body.size());
  block.used += bytes;
  ++size_;
}

void RecordLog::drop_oldest() {
  first_ += sizeof(PackedRecord::Head) + head_at(blocks_.front().bytes.data() + first_).body_bytes;
  --size_;
  if (first_ == blocks_.front().used) spare_first();
}

void RecordLog::clear() {
  while (!blocks_.empty()) spare_first();
  size_ = 0;
}

void RecordLog::spare_first() {
  spare_.splice(spare_.begin(), blocks_, blocks_.begin());
  if (spare_.size() > kMostSpare) spare_.pop_back();
  first_ = 0;
}

std::vector<TraceRecord> RecordLog::records() const {
  std::vector<TraceRecord> result;
  result.reserve(size_);
  std::size_t place = first_;
  for (const Block& block : blocks_) {
    while (place < block.used) {
      const char* const at = block.bytes.data() + place;
      const PackedRecord::Head head = head_at(at);
      result.push_back(unpacked(head, at + sizeof head));
      place += sizeof head + head.body_bytes;
    }
    place = 0;
  }
  return result;
}

}  // namespace d5::detail
