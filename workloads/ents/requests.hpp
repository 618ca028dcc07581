// SPDX-License-Identifier: BSD-3-Clause
// The requests of the ENTS paper's workloads to a map and to level hashing, drawn before time is
// taken (Soh, Swanson, Zhao: ENTS: Flush-and-Fence-Free Failure Atomic Transactions, MEMSYS 2023).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "workloads/dice.hpp"
#include "workloads/maps/key_hash.hpp"
#include "workloads/tatp/requests.hpp"
#include "workloads/tpcc/requests.hpp"

namespace scute::workloads::ents {

enum class action : uint8_t { read, update, insert, remove };

// Of a map or of level hashing. Every one of them succeeds.
struct entry_request {
  action what;
  uint64_t key;
  uint64_t value;
};

// The numbers of keys: which are there, and which are not, apart for each thread, so that a
// thread's insertions and removals find what they expect whatever the others do.
class key_numbers {
 public:
  // Keys 0 to n - 1 are there, and n more may be.
  key_numbers(uint64_t n, unsigned threads) : parts_(threads) {
    for (uint64_t i = 0; i < 2 * n; ++i) {
      part& p = parts_[i % threads];
      (i < n ? p.there : p.missing).push_back(i);
    }
  }

  // Half look-ups, half updates, of keys that are there, any thread's.
  entry_request read_or_update(dice& d) const {
    const part& p = parts_[d.below(parts_.size())];
    const uint64_t key = p.there[d.below(p.there.size())];
    return {d.percent(50) ? action::read : action::update, key, d.next()};
  }
  // Half insertions, half removals, of this thread's keys.
  entry_request insert_or_remove(dice& d, unsigned thread) {
    part& p = parts_[thread];
    const bool inserts = p.there.empty() || (!p.missing.empty() && d.percent(50));
    auto& from = inserts ? p.missing : p.there;
    auto& to = inserts ? p.there : p.missing;
    const size_t i = d.below(from.size());
    std::swap(from[i], from.back());
    to.push_back(from.back());
    from.pop_back();
    return {inserts ? action::insert : action::remove, to.back(), d.next()};
  }
  uint64_t there() const noexcept {
    uint64_t n = 0;
    for (const part& p : parts_) n += p.there.size();
    return n;
  }

 private:
  struct part {
    std::vector<uint64_t> there, missing;
  };
  std::vector<part> parts_;
};

// The requests of one thread, all of one kind of work.
using batch = std::variant<std::vector<entry_request>, std::vector<tatp::request>,
                           std::vector<tpcc::request>>;

inline size_t size_of(const batch& b) {
  return std::visit([](const auto& requests) { return requests.size(); }, b);
}

}  // namespace scute::workloads::ents
