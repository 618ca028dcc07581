// SPDX-License-Identifier: BSD-3-Clause
// Where the log of a pool on a disk lies: a file beside the pool's, and the names that it may have. What is in it is
// said by its owner (engine/spec/companion.hpp).
//
//   named    POOL.log
//   coming   POOL.log.new: whole, but the pool does not need it yet, or did not when its maker died
//
// PLACE-1 A file that is made gets its name `coming` when its bytes, all zeros, are durable; what a dead process has left
//    under it goes. So at `coming` there is no file, or a whole one.
// PLACE-2 give_name() is one rename, durable when it returns. `named` is the file that was there before, or the new one.
#pragma once

#include <memory>
#include <string>

#include "medium/log_file.hpp"
#include "medium/ownership.hpp"

namespace scute::core::medium {

class log_place {
 public:
  enum class name : uint8_t { named, coming };

  virtual ~log_place() = default;

  // For messages.
  virtual std::string path(name n) const = 0;
  // A pool on this medium, made now, shall have its log here.
  virtual bool is_wanted(const medium& pool) const noexcept = 0;
  // Whatever log is there may be replaced: the pool that it belongs to is replaced as well.
  virtual bool replaces() const noexcept { return false; }

  // The file of that name; null if there is none. Throws SCUTE_E_BUSY, SCUTE_E_IO and the like.
  virtual std::unique_ptr<medium> open(name n, access how) = 0;
  // PLACE-1. Throws SCUTE_E_NOSPC, with nothing there.
  virtual std::unique_ptr<medium> make(uint64_t size) = 0;
  // PLACE-2
  virtual void give_name() = 0;
  // The file gets a name that nobody uses, and that is told in messages. Throws SCUTE_E_EXISTS.
  virtual void set_aside(name n) = 0;
  virtual void remove(name n) noexcept = 0;
  // Of the open file. Longer: with zeros, durably. Throws SCUTE_E_NOSPC.
  virtual void resize(medium& m, uint64_t size) = 0;

 protected:
  log_place() = default;
};

// Beside a pool at this path, which may be a symbolic link. as: of a file that is made; mode 0: the pool's.
std::unique_ptr<log_place> place_beside(const std::string& pool, const ownership& as,
                                        bool replaces);

}  // namespace scute::core::medium
