// SPDX-License-Identifier: BSD-3-Clause
#include "systems/ents_system.hpp"
#include "systems/pmemobj_huge.hpp"

namespace scute::bench {

const std::vector<ents_kind>& ents_kinds() {
  static const auto floor = [](const char* name, const char* about, bool variant) {
    return ents_kind{name, name, "floor", about, variant, false, make_append_ents};
  };
  static const auto way = [](const char* name, const char* about) {
    return ents_kind{name, "scute", name, about, true, false, make_pow_ents};
  };
  static const std::vector<ents_kind> kinds{
      {"redo-none", "scute", "redo-none", "", false, false, make_scute_ents},
      {"logfree-mlpc", "scute", "logfree-mlpc", "", false, false, make_scute_ents},
      {"pow", "scute", "pow",
       "structures in DRAM, persist-on-write, one page in nine protected; kv_put, too", false,
       false, make_pow_ents},
      {"pow-none", "scute", "pow-none", "the same without protection", false, false, make_pow_ents},
      way("pow-none-padded", "pow-none, each object written in whole lines; ents only"),
      way("pow-none-cached", "pow-none by cached stores and write-backs"),
      way("pow-none-cached-padded", "the same, padded"),
      way("pow-none-medium", "pow-none, the program's objects in a file as well"),
      way("pow-none-medium-padded", "the same, padded"),
      way("pow-none-medium-cached", "objects in a file, cached stores"),
      way("pow-none-medium-cached-padded", "the same, padded"),
#ifdef SCUTE_BENCH_HAVE_PMEMOBJ
      {"libpmemobj", "libpmemobj", "tx", "", false, false, make_pmemobj_ents},
      {pmemobj_huge, pmemobj_huge, "tx", "", false, false, make_pmemobj_ents},
#endif
      {"level-in-place", "level-in-place", "words",
       "level hashing as its paper has it, 8-byte writes in order; ents_level only", false, true,
       make_in_place_ents},
      floor("raw-pow", "whole objects appended to a log, one fence; ents only", false),
      floor("raw-pow-padded", "the same, each object in lines of its own", true),
      floor("raw-pow-cached", "cached stores and write-backs", true),
      floor("raw-pow-cached-padded", "the same, padded", true),
      floor("raw-pow-medium", "the program's objects in a file as well", true),
      floor("raw-pow-medium-padded", "the same, padded", true),
      floor("raw-pow-medium-cached", "objects in a file, cached stores", true),
      floor("raw-pow-medium-cached-padded", "the same, padded", true),
      {"volatile", "volatile", "malloc", "", false, false, make_volatile_ents},
  };
  return kinds;
}

uint64_t ents_pool_size(const ents_task& task) {
  const uint64_t objects = workloads::ents::bytes_of(task.what, task.requests);
  return (objects * 3 / 2 + (uint64_t{32} << 20)) & ~uint64_t{4095};
}

}  // namespace scute::bench
