// SPDX-License-Identifier: BSD-3-Clause
// Examines suspects that a walk over the pool has found, and repairs them while transactions run.
//
// SUSPECT-1 CHECK-1 (core/scrub/check.hpp) holds here as well. The parity of a column is recomputed
//    only if every fragment with a byte in it was found sound between two equal readings of its
//    syndrome. A third one, at the moment of writing, must be equal too. Columns of fragments that
//    are lost, or whose fragments are not known, keep their syndrome: it may restore them.
// SUSPECT-2 Objects come before columns. Lost fragments are tried again as long as anything else
//    could be repaired since. A column, or a fragment, that other threads change whenever it is
//    read is reported as damaged, or makes the run an incomplete one: nothing is left out and
//    called sound. (Found by reading.)
// SUSPECT-3 A column's stripe is held while its syndrome is read, or its parity written; never
//    while a fragment is tested.
#pragma once

#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "core/repair/erasure/erasure_search.hpp"
#include "core/scrub/column_walk.hpp"
#include "core/scrub/damage_classifier.hpp"

namespace scute::core::scrub {

struct finding {
  const char* what;
  uint64_t offset, length;
  uint64_t oid;
  bool repaired;
};

// The counts of a zone; `lost` is complete at the end of the zone.
struct repair_tally {
  uint64_t damaged = 0, repaired = 0, lost = 0;
  uint64_t objects = 0, object_bytes = 0;  // live ones among the suspects
};

// Without repair: whether the columns would restore the fragment. Then h is its header.
bool decodable(pool::state& s, const pool::fragment& f, pool::erasure_hints& hints,
               format::fragment_header& h);

inline constexpr const char* undecidable_column =
    "column (its data or its parity; nothing can tell which without checksums)";

// Used by one thread.
class suspect_repairer {
 public:
  using finding_fn = std::function<void(const finding&)>;

  suspect_repairer(pool::state& s, heap::heap& h, bool repair, finding_fn report)
      : s_(s), heap_(h), repair_(repair), report_(std::move(report)) {}

  // Makes sure that the zone is loaded. False if it cannot be: its descriptor is lost.
  bool begin_zone(uint64_t zone);
  void look_into(const suspect& d);
  // Tries lost fragments again (SUSPECT-2), reports those that remain lost, and forgets the zone.
  void end_zone(uint64_t zone);

  repair_tally& tally(uint64_t zone) { return tallies_[zone]; }
  // Returns false if commits kept it from examining any suspect.
  bool saw_all() const noexcept { return saw_all_; }

 private:
  enum class outcome { sound, repaired, lost, busy };
  struct loss {
    fragment_ref g;
    uint64_t tried;  // repairs_ at the last try
    bool reported = false;
  };
  struct columns {
    uint64_t zone, column;
    uint32_t length;
    bool operator<(const columns& o) const noexcept {
      return std::tie(zone, column) < std::tie(o.zone, o.column);
    }
  };

  outcome fragment(uint64_t zone, const fragment_ref& g);
  outcome try_repair(uint64_t zone, const fragment_ref& g);
  void count(uint64_t zone, const fragment_ref& g, const format::fragment_header& h);
  void count_if_sound(uint64_t zone, const fragment_ref& g, outcome o);
  void column(const columns& c);
  // changing: not now; a commit is writing there, or a chunk gets another use.
  enum class vouched { all, not_all, changing };
  vouched vouched_for(const columns& c);
  void repaired(uint64_t zone, const char* what, uint64_t offset, uint64_t length, uint64_t oid);
  void post(scute_event_kind kind, scute_outcome what, uint64_t offset, uint64_t length);

  pool::state& s_;
  heap::heap& heap_;
  const bool repair_;
  const finding_fn report_;
  std::map<uint64_t, repair_tally> tallies_;
  std::map<std::pair<uint64_t, uint64_t>, loss> lost_;  // by zone and header
  struct suspicion {
    bool reported = false, again = false;  // again: it may only have been at the wrong moment
  };
  std::map<columns, suspicion> suspects_;
  std::vector<suspect> busy_;
  pool::erasure_hints hints_;
  uint64_t repairs_ = 0;  // of any kind; a measure of progress
  bool saw_all_ = true;
};

}  // namespace scute::core::scrub
