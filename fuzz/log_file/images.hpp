// SPDX-License-Identifier: BSD-3-Clause
// Pools of engine spec that have their log in a file next to them, made in memory when the program
// starts, always the same bytes; and logs that are not theirs. Each object was written as a whole
// by one transaction, several times: its bytes tell its version.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "open_pool.hpp"
#include "ram_place.hpp"

namespace scute::fuzz {

struct log_image {
  std::string name;
  bytes pool, log;
  bool clean;          // the pool was closed
  bool two_copies;     // of records; heads and truncation point have two anyway
  bool checked;        // objects have checksums
  uint64_t epoch = 0;  // of the session that has the log
  uint64_t segment_size = 0, chunk_size = 0, salt = 0;
  // Logs that were there instead, with names: of another pool, of an earlier session, of a later
  // moment. An unclean pool has to refuse them all.
  std::vector<std::pair<std::string, bytes>> others;
  // Of a clean pool: what its log was in the middle of its last session. It fits the epoch, and is
  // of no use.
  bytes middle;
};

// The order is part of the inputs' meaning.
const std::vector<log_image>& log_images();

inline constexpr size_t log_objects = 6;
inline constexpr uint64_t newest_version = 3;
constexpr size_t size_of_object(size_t i) noexcept {
  return 40 + i * 700;
}
std::vector<uint64_t> objects_of(scute_pool* pool);
// One object, or all, by a transaction each. Throws failure.
void write_object(scute_pool* pool, const std::vector<uint64_t>& oids, size_t i, uint64_t version);
void write_version(scute_pool* pool, const std::vector<uint64_t>& oids, uint64_t version);
// The version that the bytes are of; 0: of none.
uint64_t version_of(size_t object, const void* at);

// A pool in memory, and the files next to it.
class log_pool {
 public:
  // create: null to open what the file and the folder hold. Throws failure.
  log_pool(ram_file& file, log_folder& folder, const scute_options* create, bool read_only = false,
           unsigned char identity = 1);
  ~log_pool();
  log_pool(const log_pool&) = delete;
  log_pool& operator=(const log_pool&) = delete;

  scute_pool* handle() const noexcept { return handle_; }
  instance& in() const noexcept { return *handle_->in; }
  void close();
  // As by kill -9.
  void abandon() noexcept;

 private:
  scute_pool* handle_ = nullptr;
};

}  // namespace scute::fuzz
