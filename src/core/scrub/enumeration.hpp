// SPDX-License-Identifier: BSD-3-Clause
// Enumerates the live objects of a pool in the order of their addresses, whatever damage there is.
//
// ENUM-1 A slot is passed over only if a header that its checksum accepts says that it holds no
//    live object (of the requested type). A header that fails its checksum is repaired first, as
//    opening the object would.
// ENUM-2 An object that cannot be repaired but still looks live (and of the type) is returned: a
//    caller that opens it learns what is lost.
// ENUM-3 Slots whose content cannot be determined are remembered, and so are chunks whose header is
//    lost. An enumeration that reaches the end while there is any fails with SCUTE_E_CORRUPT and
//    their number. So does one that has passed over a slot that was repaired later; the next
//    enumeration has it.
// ENUM-4 A commit of another thread can look like damage; core/scrub/damage_classifier.hpp
//    distinguishes the two. A thread that enumerates needs no lock.
//
// On ENUM-3: so the end is never taken for that of a complete list. (A thread that continues
// another thread's enumeration does not learn of the latter case.) Remembered slots are tried again
// at the end, and losses are reported then, once (REPAIR-7 of core/repair/repair.hpp).
#pragma once

#include <atomic>
#include <map>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "base/locks/lock.hpp"
#include "core/heap/heap.hpp"
#include "core/scrub/fragment_ref.hpp"

namespace scute::core::scrub {

class enumeration {
 public:
  enumeration(pool::state& s, heap::heap& h) : s_(s), heap_(h) {}

  // The first live object of the type (or SCUTE_TYPE_ANY) at or after slot `slot` of chunk `chunk`
  // of zone `zone`; null at the end. Throws as ENUM-3 says. Any thread.
  scute_oid search(uint64_t zone, uint32_t chunk, uint32_t slot, uint32_t type);

 private:
  using walker = std::pair<std::thread::id, uint32_t>;  // and the type that it asks for
  struct unreported {
    fragment_ref where;
    // s_.repaired at the last try: another repair may have made this one possible.
    uint64_t repairs = 0;
    bool reported = false;
    std::set<walker> passed;  // the enumerations that have passed over it
  };
  // Objects that were passed over and are whole now. They count until the thread that has passed
  // over them begins again after the error.
  struct recovered_later {
    uint64_t objects = 0;
    bool reported = false;
  };
  enum class outcome : uint8_t { whole, lost, busy };

  static walker here(uint32_t type) { return {std::this_thread::get_id(), type}; }
  bool is_live(const heap::object& o, const fragment_ref& seen, uint32_t type);
  outcome put_right(const fragment_ref& g);
  bool read_sound(const fragment_ref& g, format::fragment_header& h) const;
  bool learn(const fragment_ref& g, uint32_t type, format::fragment_header& h);
  void begin(uint32_t type);
  std::vector<std::pair<fragment_ref, outcome>> look_again();
  uint64_t report_recovered(uint32_t type) SCUTE_REQUIRES(mutex_);
  void conclude(uint32_t type);

  pool::state& s_;
  heap::heap& heap_;
  plain_mutex mutex_;
  std::map<uint64_t, unreported> unreported_ SCUTE_GUARDED_BY(mutex_);  // by header
  std::map<walker, recovered_later> recovered_later_ SCUTE_GUARDED_BY(mutex_);
};

}  // namespace scute::core::scrub
