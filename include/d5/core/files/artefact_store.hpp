// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"

namespace d5 {

/// A file identified by its content: weights, a graph, an archive of images.
struct Asset {
  std::string name;               ///< file name for people: "efficientnet-lite0.onnx"
  std::vector<std::string> urls;  ///< tried in order: https, http or file; may be empty
  std::uint64_t bytes = 0;        ///< 0: unknown
  std::string sha256;             ///< digest of the content, 64 hexadecimal digits
  bool operator==(const Asset&) const = default;
};

/// Throws: ValueError unless `sha256` is 64 lower-case hexadecimal digits; `who` begins the
/// message.
void check_digest(const std::string& sha256, const std::string& who);

/// Content-addressed store: files by the SHA-256 of their bytes, in one folder of the user. Equal
/// files are stored once, whatever their names and addresses.
///
///     ArtefactStore store;
///     const std::string path = store.fetch(asset, interrupt);  // verified just now
///
/// A file gets its final name only after its digest was verified, and is read-only from then on.
/// The next attempt resumes an interrupted transfer. Processes that need the same file at the same
/// time download it once.
///
/// Thread safety: all functions, also together with other stores and processes on the same folder.
/// Throws: IoError with the system's reason; ValueError for a malformed digest; Interrupted.
class ArtefactStore {
 public:
  /// `$D5_CACHE_DIR/artefacts`, else `artefacts` in the user's cache ($XDG_CACHE_HOME/d5 or
  /// ~/.cache/d5). Throws: IoError without a home folder.
  [[nodiscard]] static std::string usual_folder();

  /// The folder is created with its first file.
  explicit ArtefactStore(std::string folder = usual_folder());
  [[nodiscard]] const std::string& folder() const { return folder_; }

  /// The path of the digest's file, whether it exists or not.
  [[nodiscard]] std::string path_of(const std::string& sha256) const;
  [[nodiscard]] bool has(const std::string& sha256) const;

  /// The path of the file, after its digest was checked. A missing or damaged file is downloaded.
  /// Throws: IoError with every address and its reason, or with the missing disk space.
  std::string fetch(const Asset& asset, const Interrupt& interrupt = {}) const;

  /// Places a file of the store at `path`, replacing the file there: as a link if the file system
  /// allows it, else as a copy. Throws: IoError if the store has no such file.
  void place(const std::string& sha256, const std::string& path) const;

  /// Unpacks an archive of the store (zip, or tar: plain, gzip, bzip2 or xz) into a folder of its
  /// own and returns the folder. An existing folder is reused. Accepts files and folders only.
  /// Throws: FormatError for a broken archive, paths that escape the folder ("..", "/etc/x"),
  /// links, devices, and more than `most_bytes` unpacked.
  std::string unpack(const std::string& sha256, std::uint64_t most_bytes = std::uint64_t{1} << 36,
                     const Interrupt& interrupt = {}) const;

  /// Adds a copy of a file under its digest, with its name.
  Asset add(const std::string& file, const Interrupt& interrupt = {}) const;

  /// A stored file.
  struct Held {
    Asset asset;            ///< with the present size in `bytes`
    std::int64_t used = 0;  ///< time of the last fetch or addition, in seconds since 1970
  };
  /// All complete files, most recently used first.
  [[nodiscard]] std::vector<Held> list() const;

  struct Fault {
    Asset asset;
    std::string reason;  ///< "SHA-256 is ..., expected ..."
  };
  /// The files whose content does not match their digest.
  [[nodiscard]] std::vector<Fault> verify(const Interrupt& interrupt = {}) const;

  /// Removes the least recently used files until the rest has at most `most_bytes`, but never a
  /// digest in `keep`. Also removes abandoned partial transfers. Returns the removed files.
  std::vector<Asset> collect(std::uint64_t most_bytes,
                             const std::vector<std::string>& keep = {}) const;

 private:
  std::string folder_;
};

}  // namespace d5
