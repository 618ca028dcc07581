// SPDX-License-Identifier: BSD-3-Clause
// The live objects of a pool one after the other, in the order of their addresses, whatever damage there is.
//
// ENUM-1 A slot is passed over only if a header that its checksum accepts says that it holds no live object (of the
//    type asked for). What fails its checksum is repaired first, as opening the object would.
// ENUM-2 What cannot be repaired but still looks like a live object (of the type) is told: who opens it learns
//    what is lost.
// ENUM-3 What cannot be told at all is remembered, and so are chunks whose header is lost. An enumeration that
//    comes to its end while there is any ends with SCUTE_E_CORRUPT and their number. So the end is never taken
//    for that of a complete list.
// ENUM-4 A commit of another thread can look like damage; heal/certainty.hpp tells. Who enumerates needs no lock.
#pragma once

#include <atomic>
#include <map>

#include "base/lock.hpp"
#include "heal/sighting.hpp"
#include "heap/heap.hpp"

namespace scute::core::heal {

class enumeration {
 public:
  enumeration(pool::state& s, heap::heap& h) : s_(s), heap_(h) {}

  // The first live object of the type (or SCUTE_TYPE_ANY) at or after slot `slot` of chunk `chunk` of zone
  // `zone`; null at the end. Throws what ENUM-3 says. Any thread.
  scute_oid search(uint64_t zone, uint32_t chunk, uint32_t slot, uint32_t type);

 private:
  struct untold {
    sighting where;
    uint64_t
        repairs;  // of the pool at the last try: another repair may have made this one possible
  };

  bool is_live(const heap::object& o, const sighting& seen, uint32_t type);
  bool learn(const heap::object& o, const sighting& seen, const pool::fragment& f,
             format::fragment_header& h);
  void conclude(uint32_t type);

  pool::state& s_;
  heap::heap& heap_;
  plain_mutex mutex_;
  std::map<uint64_t, untold> untold_ SCUTE_GUARDED_BY(mutex_);  // by header
};

}  // namespace scute::core::heal
