// SPDX-License-Identifier: BSD-3-Clause
// ledger.hpp: memory that the worker shares with its parent
// and that survives its death: which worker began and which finished a transaction. It is all that
// the verification knows besides the seed.
//
// A writer announces transaction n before it begins it and confirms n after its commit returned, so
// at any instant: everything up to `confirmed` must be in the pool, `announced` may be, and nothing
// beyond it can.
#pragma once

#include "settings.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace scute_torture {

// How a transaction was done. The planned transaction may not fit a full pool; then the writer
// gives up and does the same transaction in another way, and says so before it commits.
enum class way : uint8_t { planned, shrinking, idle };

inline constexpr unsigned actors_max = threads_max + 1;  // one for each thread, one shared

class ledger {
 public:
  struct page {  // of one writer
    std::atomic<uint64_t> announced, confirmed;
    std::atomic<uint64_t> verified;  // the model stands here
    // Ways of the transactions after `verified`, by number modulo the size.
    std::array<std::atomic<way>, size_t{1} << 18> ways;

    way way_of(uint64_t n) const noexcept { return ways[n % ways.size()]; }
    bool full(uint64_t n) const noexcept { return n - verified >= ways.size(); }
    void announce(uint64_t n, way how) noexcept {
      ways[n % ways.size()] = how;
      announced = n;
    }
  };

  std::atomic<bool> opening;                       // the worker is about to open the pool
  std::atomic<bool> open;                          // it has, and starts to work
  std::atomic<bool> stop;                          // the parent wants it to close the pool
  std::atomic<bool> closed;                        // it has
  std::atomic<bool> failed;                        // and why is in `story`
  std::atomic<uint64_t> created;                   // pools made, in a creating round
  std::atomic<uint64_t> found_old, found_new;      // transactions in flight at a kill
  std::atomic<uint64_t> opened, replayed;          // opens after a kill, and with something to end
  std::atomic<uint64_t> children, children_ended;  // that workers forked
  std::array<page, actors_max> pages;

  void fail(const std::string& why) noexcept;
  std::string story() const { return story_.data(); }

  // Shared with every process that is forked from now on; zeros. Throws std::runtime_error.
  static ledger& make();

 private:
  std::atomic<bool> reported_;
  std::array<char, 4096> story_;
};

}  // namespace scute_torture
