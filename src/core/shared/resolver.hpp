// SPDX-License-Identifier: BSD-3-Clause
// The core's interface to resolution after a crash. core/engine/logfree/resolution.hpp implements
// it where columns and transactions are left open, and
// core/engine/speculative/recovery/unresolved.hpp where only parity is. Every pool has a resolver;
// it has nothing to do for other engines, and after a clean close.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <utility>

namespace scute::core::pool {

struct fragment;

class resolver {
 public:
  virtual ~resolver() = default;

  // Whether some part of this pool is not resolved yet. Once all is resolved, the functions below
  // do nothing.
  bool pending() const noexcept { return pending_.load(std::memory_order_acquire); }

  // Any thread that holds no stripe may call these. Each makes its results durable. They throw
  // failure(SCUTE_E_IO) if the medium fails; damage beyond repair is reported as an event and left.
  //
  // How many blocks a thread resolves in passing, while it waits for something else. Tests make it
  // small, so that pools stay half resolved for a while. To be set while no pool is open.
  static void resolve_at_once(uint64_t blocks) noexcept { at_once_ = blocks; }
  static uint64_t at_once() noexcept { return at_once_; }

  // Before a byte in [offset, offset + length) of the data rows is written: resolves its columns.
  virtual void before_write(uint64_t offset, uint64_t length) = 0;
  // Before a header is replaced: resolves its ring, if it has a tag of an unresolved epoch.
  virtual void before_change(const fragment& f) = 0;
  // Before bytes of a fragment are handed out or used: makes them those of a decided transaction.
  virtual void before_read(const fragment& f) = 0;
  // Before bytes are written that no transaction has as its members, but that may be members of
  // another one: resolves columns and rings.
  virtual void before_overwrite(uint64_t offset, uint64_t length) = 0;
  // Before a chunk changes its use: afterwards nothing in it belongs to an unresolved transaction.
  virtual void before_reuse(uint64_t offset, uint64_t length) = 0;

  // Under the exclusively held stripe of a column block, before its parity is compared, or decoded
  // from. Writes parity only, and leaves it to a fence that comes later.
  virtual void before_trust(uint64_t /*zone*/, uint64_t /*column*/) noexcept {}

  // Bytes of a page; 4096, as a column block is wide.
  class page_bytes {
   public:
    void set(uint64_t begin, uint64_t end) noexcept {
      for (uint64_t w = begin / 64; w * 64 < end; ++w) {
        const uint64_t from = std::max(begin, w * 64) - w * 64, to = std::min(end - w * 64, word);
        words_[w] |= (to == word ? ~uint64_t{0} : (uint64_t{1} << to) - 1) & ~uint64_t{0} << from;
      }
    }
    void add(const page_bytes& more) noexcept {
      for (uint64_t w = 0; w < words; ++w) words_[w] |= more.words_[w];
    }
    bool any() const noexcept {
      return std::any_of(words_, words_ + words, [](uint64_t w) { return w != 0; });
    }
    bool operator[](uint64_t i) const noexcept { return (words_[i / 64] >> i % 64 & 1) != 0; }
    // [first, past the last one); there is one.
    std::pair<uint64_t, uint64_t> bounds() const noexcept {
      uint64_t first = 0, last = words - 1;
      while (words_[first] == 0) ++first;
      while (words_[last] == 0) --last;
      return {first * word + static_cast<uint64_t>(std::countr_zero(words_[first])),
              (last + 1) * word - static_cast<uint64_t>(std::countl_zero(words_[last]))};
    }
    // Calls fn(begin, end) for each longest run.
    template <typename Fn>
    void for_each_run(Fn&& fn) const {
      for (uint64_t i = 0; i < words * word;) {
        const uint64_t left = words_[i / word] >> i % word;
        if (left == 0) {
          i = (i / word + 1) * word;
          continue;
        }
        i += static_cast<uint64_t>(std::countr_zero(left));
        uint64_t end = i;
        while (end < words * word && (*this)[end]) ++end;
        fn(i, end);
        i = end;
      }
    }

   private:
    static constexpr uint64_t word = 64, words = 64;
    uint64_t words_[words] = {};
  };
  // The bytes of a page of the data rows that its columns do not determine: those that its own row
  // has changed where the parity may be older, and those where only other rows have. False: they
  // determine everything. Async-signal-safe; the block's stripe is held.
  virtual bool undecodable(uint64_t /*page*/, page_bytes& /*own*/,
                           page_bytes& /*others*/) const noexcept {
    return false;
  }

  // The scan: resolves up to `blocks` blocks that no thread has begun yet; false if there are none.
  // Any number of threads; all blocks are resolved when all threads have returned.
  virtual bool scan(uint64_t blocks) = 0;
  // After the scan: nothing is pending any more. The caller makes the superblock say so first.
  virtual void finish() noexcept = 0;

  // Column blocks: all that there are to resolve since opening, and those that are.
  struct progress {
    uint64_t blocks = 0, resolved = 0;
  };
  virtual progress done() const noexcept = 0;
  // Members that were rolled back, and transactions whose parity was completed: the traces of a
  // crash.
  struct outcome {
    uint64_t rolled_back = 0, finished = 0;
  };
  virtual outcome traces() const noexcept = 0;

 private:
  static inline uint64_t at_once_ = 64;  // some 400 KiB of reading each

 protected:
  constexpr resolver() = default;
  std::atomic<bool> pending_{false};
};

// For pools with nothing to resolve.
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
