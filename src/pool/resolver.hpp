// SPDX-License-Identifier: BSD-3-Clause
// What the core asks of resolution after a crash of a log-free pool; implemented by engine/logfree/resolution.hpp. Every
// pool has one: that of others, and of those that were closed properly, has nothing to do.
#pragma once

#include <atomic>
#include <cstdint>

namespace scute::core::pool {

struct fragment;

class resolver {
 public:
  virtual ~resolver() = default;

  // Something of this pool is not resolved yet. What follows does nothing when that is over.
  bool pending() const noexcept { return pending_.load(std::memory_order_acquire); }

  // Each may be called by any thread that holds no stripe, and makes what it did durable. They throw
  // failure(SCUTE_E_IO) if the medium fails; what is beyond repair is reported as an event and left.
  //
  // Before a byte in [offset, offset + length) of the data rows is written: its columns are resolved.
  virtual void before_write(uint64_t offset, uint64_t length) = 0;
  // Before a header is replaced: its ring is resolved, if it carries a tag of an unresolved epoch.
  virtual void before_change(const fragment& f) = 0;
  // Before bytes of a fragment are handed out or built upon: they are those of a decided transaction.
  virtual void before_read(const fragment& f) = 0;
  // Before bytes are written that no transaction knows as its members', and that may be members of another
  // one: columns and rings.
  virtual void before_overwrite(uint64_t offset, uint64_t length) = 0;
  // Before a chunk changes its use: nothing in it is of an unresolved transaction any more.
  virtual void before_reuse(uint64_t offset, uint64_t length) = 0;

  // The scan: resolves up to `blocks` further blocks that nobody has begun yet; false if there are none.
  // Any number of threads; all blocks are resolved when all of them have returned.
  virtual bool scan(uint64_t blocks) = 0;
  // After the scan: nothing is pending any more. The caller makes the superblock say so first.
  virtual void finish() noexcept = 0;

  // Column blocks: all that there are to resolve since opening, and those that are.
  struct progress {
    uint64_t blocks = 0, resolved = 0;
  };
  virtual progress done() const noexcept = 0;
  // Members that were rolled back, and transactions whose parity was finished: what a crash leaves.
  struct outcome {
    uint64_t rolled_back = 0, finished = 0;
  };
  virtual outcome traces() const noexcept = 0;

 protected:
  constexpr resolver() = default;
  std::atomic<bool> pending_{false};
};

// Of no pool in particular.
class idle_resolver final : public resolver {
 public:
  constexpr idle_resolver() = default;
  void before_write(uint64_t, uint64_t) override {}
  void before_change(const fragment&) override {}
  void before_read(const fragment&) override {}
  void before_overwrite(uint64_t, uint64_t) override {}
  void before_reuse(uint64_t, uint64_t) override {}
  bool scan(uint64_t) override { return false; }
  void finish() noexcept override {}
  progress done() const noexcept override { return {}; }
  outcome traces() const noexcept override { return {}; }
};
inline idle_resolver nothing_to_resolve;

}  // namespace scute::core::pool
