// SPDX-License-Identifier: BSD-3-Clause
// Power failures in a program that runs on the machine. Remembers the stores of its transactions,
// and verifies whether recovery from a failure at some moment is right. As in crash/story.hpp, but
// the transactions are the program's own.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "machine/contents.hpp"
#include "schemes/scheme.hpp"

namespace scute::sim {

class witness {
 public:
  // The scheme's transactions have not begun.
  explicit witness(scheme& s);

  // Records the durable bytes from that address on. Call it before the first store; the address is
  // that of a line.
  void remember(uint64_t address, std::vector<uint64_t> words);

  void begin(unsigned core) { cores_[core].open = true; }
  void end(unsigned core, ticks at);
  // The aligned word at that address has that value after a store of the core's, which the machine
  // has seen; the core's time is now that.
  void store(unsigned core, uint64_t address, uint64_t word, ticks now);

  struct crash_result {
    uint64_t moments = 0,
             crashes = 0;  // when something became durable; of these, how many were tried
    uint64_t transactions = 0, words = 0;
    uint64_t loose = 0;  // stores outside of transactions: those words are not verified
    uint64_t cut_short =
        0;  // transactions that had begun to change durable bytes and were undone or lost, added up
    // Stores to a line that a transaction of another core had changed and not ended: the program
    // does not keep its data apart by lines, as the schemes ask it to.
    uint64_t shared = 0;
    std::string wrong;  // "" if every recovery was right
  };
  // At most that many power failures, evenly among the moments.
  crash_result verify(unsigned crashes_max) const;

 private:
  struct transaction {
    uint32_t number;
    ticks end;
    std::unordered_map<uint64_t, uint64_t> words;
  };
  struct core_state {
    bool open = false;
    std::unordered_map<uint64_t, uint64_t> words;
  };
  struct stretch {
    uint64_t address;
    std::vector<uint64_t> words;
  };

  line_bytes_of initial(uint64_t line) const;
  std::string verify_at(ticks crash) const;

  scheme& scheme_;
  contents bytes_;
  std::vector<core_state> cores_;
  std::vector<transaction> ended_;
  std::vector<stretch> before_;
  std::unordered_map<uint64_t, uint64_t> loose_;
  struct user {
    unsigned core;
    ticks until;  // never while the transaction is open
  };
  static constexpr ticks never = ~ticks{0};
  std::unordered_map<uint64_t, user> users_;  // by line
  uint64_t shared_ = 0;
};

}  // namespace scute::sim
