// SPDX-License-Identifier: BSD-3-Clause
#include "systems/pmemobj_huge.hpp"
#include "systems/stamp_system.hpp"

namespace scute::bench {

// An engine of Scute is a line here: name, configuration of the pool, and how ranges are edited.
const std::vector<stamp_kind>& stamp_kinds() {
  static const std::vector<stamp_kind> kinds{
      {"redo-none", "scute", "redo-none", "", "redo-none", false, make_scute_stamp},
      {"redo-mlpc", "scute", "redo-mlpc", "", "redo-mlpc", false, make_scute_stamp},
      {"logfree-mlpc", "scute", "logfree-mlpc", "", "logfree-mlpc", false, make_scute_stamp},
      {"redo-none-in-place", "scute", "redo-none-in-place",
       "ranges edited in place; stamp only, and only if named", "redo-none", true,
       make_scute_in_place_stamp},
      {"logfree-mlpc-in-place", "scute", "logfree-mlpc-in-place", "the same, everything protected",
       "logfree-mlpc", true, make_scute_in_place_stamp},
      {"spec-none", "scute", "spec-none", "", "spec-none", false, make_scute_stamp},
      {"spec-mlpc", "scute", "spec-mlpc", "", "spec-mlpc", false, make_scute_stamp},
      {"spec-none-in-place", "scute", "spec-none-in-place",
       "spec-none, ranges edited in place; stamp only", "spec-none", false,
       make_scute_in_place_stamp},
      {"spec-mlpc-in-place", "scute", "spec-mlpc-in-place",
       "the same, everything protected; only if named", "spec-mlpc", true,
       make_scute_in_place_stamp},
      {"spec-flush", "scute", "spec-flush",
       "spec-none-in-place, and edits are written back before each commit; stamp only", "spec-none",
       false, make_scute_flushing_stamp},
#ifdef SCUTE_BENCH_HAVE_PMEMOBJ
      {"libpmemobj", "libpmemobj", "tx", "", "", false, make_pmemobj_stamp},
      {pmemobj_huge, pmemobj_huge, "tx", "", "", false, make_pmemobj_stamp},
      {"libpmemobj-elements", "libpmemobj-elements", "tx",
       "libpmemobj, each element of an array saved by itself; stamp only, and only if named", "",
       true, make_pmemobj_elements_stamp},
#endif
      {"no-log", "no-log", "flush",
       "data written back at the end of each transaction, no log, not atomic; stamp only", "",
       false, make_unlogged_stamp},
      {"volatile", "volatile", "malloc", "", "", false, make_volatile_stamp},
  };
  return kinds;
}

}  // namespace scute::bench
