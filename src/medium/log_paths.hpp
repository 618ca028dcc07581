// SPDX-License-Identifier: BSD-3-Clause
// Where the log of a pool on a disk lies: a file beside the pool's, and the names that it may have.
// What is in it is said by its owner (engine/speculative/log_in_file.hpp).
//
//   named    POOL.log
//   coming   POOL.log.new: whole, but the pool does not need it yet, or did not when its maker died
//
// PLACE-1 A file that is made gets its name `coming` when its bytes, all zeros, are durable. So at
//    `coming` there is no file, a whole one, or somebody else's.
// PLACE-2 give_name() is one rename, durable when it returns, to a name that no file has (OURS-3):
//    who has looked at what is there takes that away, or sets it aside, before. A crash in between
//    leaves no file at `named`, and the new one at `coming`.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "medium/log_file.hpp"
#include "medium/ownership.hpp"

namespace scute::core::medium {

using pool_uuid = std::array<uint8_t, 16>;

class log_paths {
 public:
  enum class name : uint8_t { named, coming };

  virtual ~log_paths() = default;

  // For messages.
  virtual std::string path(name n) const = 0;
  // A pool on this medium, made now, shall have its log here.
  virtual bool is_wanted(const medium& pool) const noexcept = 0;
  // The pool that is going to be replaced, as far as that can be told: its log may be replaced as
  // well.
  virtual std::optional<pool_uuid> replaced() const noexcept { return {}; }

  // The file of that name; null if there is none. Throws SCUTE_E_BUSY, SCUTE_E_IO and the like.
  virtual std::unique_ptr<medium> open(name n, access how) = 0;
  // PLACE-1. Throws SCUTE_E_NOSPC, with nothing there; SCUTE_E_EXISTS if something has the name
  // `coming`.
  virtual std::unique_ptr<medium> make(uint64_t size) = 0;
  // PLACE-2. Throws SCUTE_E_EXISTS if something has the name.
  virtual void give_name() = 0;
  // The file gets a name that nobody uses, and that is told in messages. Throws SCUTE_E_EXISTS.
  virtual void set_aside(name n) = 0;
  // OURS-1. False if something has that name still, or had none.
  virtual bool remove(name n) noexcept = 0;
  // Of the open file. Longer: with zeros, durably. Throws SCUTE_E_NOSPC.
  virtual void resize(medium& m, uint64_t size) = 0;

 protected:
  log_paths() = default;
};

// Beside a pool at this path, which may be a symbolic link. as: of a file that is made; mode 0: the
// pool's.
std::unique_ptr<log_paths> log_paths_of(const std::string& pool, const ownership& as,
                                        std::optional<pool_uuid> replaced = {});

}  // namespace scute::core::medium
