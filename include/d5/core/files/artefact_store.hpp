// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"

namespace d5 {

/// A file that is known by its content: weights, a graph, an archive of images.
struct Asset {
  std::string name;               ///< what people call it: "efficientnet-lite0.onnx"
  std::vector<std::string> urls;  ///< tried in order: https, http or file; may be empty
  std::uint64_t bytes = 0;        ///< 0: not told
  std::string sha256;             ///< of its bytes, 64 hexadecimal digits
  bool operator==(const Asset&) const = default;
};

/// Throws: ValueError unless `sha256` is 64 lower-case hexadecimal digits; `who` begins the
/// message.
void check_digest(const std::string& sha256, const std::string& who);

/// Files by the SHA-256 of their bytes, in one folder of the user: whoever needs the same bytes
/// shares them, under whatever name and address they were asked for.
///
///     ArtefactStore store;
///     const std::string path = store.fetch(asset, interrupt);  // right at this moment
///
/// A file has its final name only after its digest was right, and is read-only from then on. What
/// came of a transfer that broke off stays, and the next attempt goes on from there. Processes that
/// want the same file at once download it once.
///
/// Thread safety: all functions, and those of other stores and processes in the same folder.
/// Throws: IoError with the system's reason; ValueError for what is no digest; Interrupted.
class ArtefactStore {
 public:
  /// `$D5_CACHE_DIR/artefacts`, else `artefacts` in the user's cache ($XDG_CACHE_HOME/d5 or
  /// ~/.cache/d5). Throws: IoError where there is no home.
  [[nodiscard]] static std::string usual_folder();

  /// The folder is made by the first file that is put there.
  explicit ArtefactStore(std::string folder = usual_folder());
  [[nodiscard]] const std::string& folder() const { return folder_; }

  /// Where the file of a digest is or would be.
  [[nodiscard]] std::string path_of(const std::string& sha256) const;
  [[nodiscard]] bool has(const std::string& sha256) const;

  /// The path of the file, whose digest was checked at this moment. It is downloaded where it is
  /// missing, or was damaged since. Throws: IoError with every address and its reason, or with the
  /// space that is missing on the disk.
  std::string fetch(const Asset& asset, const Interrupt& interrupt = {}) const;

  /// Puts a file of the store at `path` too, in the place of what is there: as a link where the
  /// disk has links and is the same, else as a copy. Throws: IoError where the store has no such
  /// file.
  void place(const std::string& sha256, const std::string& path) const;

  /// Unpacks an archive (tar, plain or packed by gzip, bzip2 or xz; zip) of the store into a folder
  /// of its own, which is returned; one that is there already is used again. Files and folders
  /// alone. Throws: FormatError for a broken archive, names that lead outside ("..", "/etc/x"),
  /// links and devices, and more than `most_bytes` unpacked.
  std::string unpack(const std::string& sha256, std::uint64_t most_bytes = std::uint64_t{1} << 36,
                     const Interrupt& interrupt = {}) const;

  /// Puts a copy of a file there, under its own digest, with its name.
  Asset add(const std::string& file, const Interrupt& interrupt = {}) const;

  /// A file that is there.
  struct Held {
    Asset asset;            ///< `bytes` as they are now
    std::int64_t used = 0;  ///< when it was last fetched or added, s since 1970
  };
  /// The one used last first. What is not whole yet is not among them.
  [[nodiscard]] std::vector<Held> list() const;

  struct Fault {
    Asset asset;
    std::string reason;  ///< "SHA-256 is ..., expected ..."
  };
  /// Those whose bytes are not, or no longer, those of their name.
  [[nodiscard]] std::vector<Fault> verify(const Interrupt& interrupt = {}) const;

  /// Removes files, the one used longest ago first, until those that stay have at most
  /// `most_bytes`; never one of the digests in `keep`. Removes what is left of transfers that
  /// nobody goes on with now. Returns what was removed.
  std::vector<Asset> collect(std::uint64_t most_bytes,
                             const std::vector<std::string>& keep = {}) const;

 private:
  std::string folder_;
};

}  // namespace d5
