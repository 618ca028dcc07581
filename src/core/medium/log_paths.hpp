// SPDX-License-Identifier: BSD-3-Clause
// Where the log of a pool on a disk lies: a file next to the pool's, and the names that it may
// have. Its owner defines its contents (core/engine/speculative/log_file/log_in_file.hpp).
//
//   named    POOL.log
//   coming   POOL.log.new: complete; the pool does not need it, or did not when its maker died
//
// PLACE-1 A new file gets the name `coming` when its bytes, all zeros, are durable. So at `coming`
//    there is no file, a complete one, or another program's.
// PLACE-2 give_name() is one rename, durable when it returns, to a name that no file has (OURS-3):
//    the caller checks what is there, and removes it or sets it aside before. A crash in between
//    leaves no file at `named`, and the new one at `coming`.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/file/ownership.hpp"
#include "core/medium/log_file.hpp"

namespace scute::core::medium {

using pool_uuid = std::array<uint8_t, 16>;

class log_paths {
 public:
  enum class name : uint8_t { named, coming };

  virtual ~log_paths() = default;

  // For messages.
  virtual std::string path(name n) const = 0;
  // Whether a pool that is made on this medium now gets its log here.
  virtual bool is_wanted(const medium& pool) const noexcept = 0;
  // The pool that is about to be replaced, as far as it is known: its log may be replaced too.
  virtual std::optional<pool_uuid> replaced() const noexcept { return {}; }

  // The file of that name; null if there is none. Throws SCUTE_E_BUSY, SCUTE_E_IO and the like.
  virtual std::unique_ptr<medium> open(name n, access how) = 0;
  // PLACE-1. Throws SCUTE_E_NOSPC and leaves nothing there; SCUTE_E_EXISTS if a file has the name
  // `coming`.
  virtual std::unique_ptr<medium> make(uint64_t size) = 0;
  // PLACE-2. Throws SCUTE_E_EXISTS if a file has the name.
  virtual void give_name() = 0;
  // Gives the file an unused name: its own and ".foreign", or ".foreign.2" and so on. Throws
  // SCUTE_E_EXISTS if a hundred of them are taken, or it cannot be renamed. Does nothing if no file
  // has that name.
  virtual void set_aside(name n) = 0;
  // OURS-1. Returns false with errno if a file still has that name, or none had it (ENOENT).
  virtual bool remove(name n) noexcept = 0;
  // Changes the size of the open file. New bytes are zeros and have blocks. The size is durable
  // when the next fence of the medium is. Throws SCUTE_E_NOSPC.
  virtual void resize(medium& m, uint64_t size) = 0;

 protected:
  log_paths() = default;
};

// For a pool at this path, which may be a symbolic link. as: the ownership of a new file; mode 0:
// the pool's.
std::unique_ptr<log_paths> log_paths_of(const std::string& pool, const ownership& as,
                                        std::optional<pool_uuid> replaced = {});

}  // namespace scute::core::medium
