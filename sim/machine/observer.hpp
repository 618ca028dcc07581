// SPDX-License-Identifier: BSD-3-Clause
// The events of the caches that a scheme is called for. It may hold some of them up.
#pragma once

#include <cstdint>

#include "machine/ticks.hpp"

namespace scute::sim {

enum class cache_state : uint8_t { shared, exclusive, modified };

struct l1_line {
  uint64_t key;   // number of the line
  ticks ready;    // when it has arrived
  ticks written;  // when the last store to it was made
  cache_state state;
  bool dirty;
  bool pbit, logbit;  // SpecPMT, section 5.1
  uint8_t mark;       // the scheme's own
};

struct tlb_page {
  uint64_t key;    // number of the page
  bool epoch_bit;  // hot
  uint8_t count;   // stores while cold; id of the epoch while hot
  bool copying;    // on the way into the log
  uint32_t turn;   // the scheme's own: which use of the id
  ticks hot_at;    // when the copy is durable, if copying
};

class observer {
 public:
  virtual ~observer() = default;
  // A store to persistent memory is about to be made in a line that the core owns. Returns when it
  // may be made, at the earliest `at`.
  virtual ticks storing(unsigned /*core*/, uint64_t /*address*/, unsigned /*bytes*/, l1_line&,
                        tlb_page&, ticks at) {
    return at;
  }
  // A dirty line leaves the core's first cache: evicted, or taken by another core. Returns from
  // when on others may have it.
  virtual ticks leaving_l1(unsigned /*core*/, l1_line&, ticks at) { return at; }
  virtual void leaving_tlb(unsigned /*core*/, tlb_page&) {}
  // A dirty line of persistent memory leaves the last cache. False if nothing is to be written.
  virtual bool leaving_caches(uint64_t /*line*/, ticks /*at*/) { return true; }
  // A line was not in any cache; when it is there.
  virtual ticks missing(unsigned /*core*/, uint64_t /*line*/, ticks /*asked*/, ticks there) {
    return there;
  }
};

}  // namespace scute::sim
