// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sndfile.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "d5/core/errors/error.hpp"
#include "level2_training/data/audio/audio_file.hpp"

namespace d5::detail {
namespace {

/// A file in memory as libsndfile reads it.
struct FileInMemory {
  std::span<const std::byte> bytes;
  sf_count_t place = 0;

  [[nodiscard]] sf_count_t size() const { return sf_count_t(bytes.size()); }
  static FileInMemory& of(void* file) { return *static_cast<FileInMemory*>(file); }
};

sf_count_t size_of_file(void* file) { return FileInMemory::of(file).size(); }
sf_count_t place_of_file(void* file) { return FileInMemory::of(file).place; }
sf_count_t write_nothing(const void*, sf_count_t, void*) { return 0; }

sf_count_t seek_file(sf_count_t offset, int from, void* file) {
  FileInMemory& memory = FileInMemory::of(file);
  const sf_count_t begin = from == SEEK_SET ? 0 : from == SEEK_CUR ? memory.place : memory.size();
  // An offset of a hostile header may be any number.
  const sf_count_t least = -begin, most = memory.size() - begin;
  memory.place = begin + std::clamp(offset, least, most);
  return memory.place;
}

sf_count_t read_file_bytes(void* to, sf_count_t count, void* file) {
  FileInMemory& memory = FileInMemory::of(file);
  const sf_count_t given = std::clamp<sf_count_t>(count, 0, memory.size() - memory.place);
  std::memcpy(to, memory.bytes.data() + memory.place, std::size_t(given));
  memory.place += given;
  return given;
}

struct Closes {
  void operator()(SNDFILE* file) const { sf_close(file); }
};

}  // namespace

void decode_audio(std::span<const std::byte> file, std::int64_t most_samples, Audio& audio) {
  FileInMemory memory{file};
  SF_VIRTUAL_IO io{size_of_file, seek_file, read_file_bytes, write_nothing, place_of_file};
  SF_INFO info{};
  const std::unique_ptr<SNDFILE, Closes> sound(sf_open_virtual(&io, SFM_READ, &info, &memory));
  if (!sound) {
    throw FormatError(fmt::format("{} bytes are no audio file ({}); expected WAV, FLAC or Ogg",
                                  file.size(), printable(sf_strerror(nullptr))));
  }
  if (info.samplerate < 1 || info.channels < 1) {
    throw FormatError(
        fmt::format("an audio file of {} channels at {} Hz", info.channels, info.samplerate));
  }
  audio.rate = info.samplerate;
  audio.channels = info.channels;
  audio.samples.clear();
  // Read piece by piece: the header's number of samples may be any.
  constexpr sf_count_t kTimes = 1 << 14;
  for (;;) {
    const std::size_t before = audio.samples.size();
    audio.samples.resize(before + std::size_t(kTimes * info.channels));
    const sf_count_t times = sf_readf_float(sound.get(), audio.samples.data() + before, kTimes);
    audio.samples.resize(before + std::size_t(std::max<sf_count_t>(times, 0) * info.channels));
    if (std::int64_t(audio.samples.size()) > most_samples) {
      throw FormatError(fmt::format(
          "an audio file of more than {} samples; the limit is most_samples", most_samples));
    }
    if (times < kTimes) break;
  }
  if (const int fault = sf_error(sound.get()); fault != SF_ERR_NO_ERROR) {
    throw FormatError(fmt::format("a broken audio file: {}", printable(sf_error_number(fault))));
  }
}

}  // namespace d5::detail
