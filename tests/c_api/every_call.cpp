// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/every_call.hpp"

#include <scute/shield_room.h>

#include <cstdio>
#include <filesystem>
#include <set>

#include "base/process/uncancelled.hpp"
#include "support/project_paths.hpp"

namespace scute::test {
using namespace core;
namespace {

using subject = call_subject;
using with = every_call::with;

int given(bool something) {
  return something ? SCUTE_OK : SCUTE_E_FORKED;
}
template <typename T>
T sized() {
  T t{};
  t.struct_size = sizeof t;
  return t;
}
scute_options small() {
  scute_options o = options(SCUTE_SIZE_MIN);
  o.lanes = 2;
  return o;
}
int and_close(int e, scute_pool* p) {
  return e != SCUTE_OK ? e : scute_close(p);
}
// A file under the shield for the time of fn(its name), which comes after it was added.
template <typename Fn>
int shielded_meanwhile(const subject& s, Fn&& fn) {
  const std::string file = s.other + ".dat";
  {
    const core::uncancelled now;
    write_file(file, bytes(5000, 7));
  }
  int e = scute_shield_add(file.c_str(), nullptr, 0, 0);
  if (e == SCUTE_OK) e = fn(file.c_str());
  const int removed = scute_shield_remove(file.c_str(), nullptr);
  const core::uncancelled now;
  std::filesystem::remove(file);
  return e != SCUTE_OK ? e : removed;
}
// The answer of a pool that protects no file.
int not_foreign(int e) {
  return e == SCUTE_E_INVALID ? SCUTE_OK : e;
}
void nothing_found(void*, const char*, uint64_t, uint64_t, scute_oid, int) {}
void no_event(void*, const scute_event*) {}

const std::vector<every_call> calls{
    {"scute_create", with::nothing,
     [](subject& s) {
       const scute_options o = small();
       scute_pool* p = nullptr;
       const int e = scute_create(s.other.c_str(), &o, &p);
       return and_close(e, p);
     }},
    {"scute_open", with::nothing,
     [](subject& s) {
       scute_pool* p = nullptr;
       const int e = scute_open(s.closed.c_str(), nullptr, &p);
       return and_close(e, p);
     }},
    {"scute_set_engine", with::nothing,
     [](subject& s) { return scute_set_engine(s.closed.c_str(), nullptr, SCUTE_ENGINE_REDO); }},
    {"scute_root", with::pool,
     [](subject& s) {
       scute_oid root = 0;
       return scute_root(s.pool, 64, 1, &root);
     }},
    {"scute_pool_info", with::pool,
     [](subject& s) {
       auto i = sized<scute_info>();
       return scute_pool_info(s.pool, &i);
     }},
    {"scute_stats", with::pool,
     [](subject& s) {
       auto c = sized<scute_counters>();
       return scute_stats(s.pool, &c);
     }},
    {"scute_stats_lane", with::pool,
     [](subject& s) {
       auto c = sized<scute_counters>();
       return scute_stats_lane(s.pool, 0, &c);
     }},
    {"scute_thread_lane", with::transaction,
     [](subject& s) { return std::min(0, scute_thread_lane(s.pool)); }},
    {"scute_check", with::pool,
     [](subject& s) {
       auto r = sized<scute_report>();
       return scute_check(s.pool, 1, &r, nothing_found, nullptr, nullptr);
     }},
    {"scute_first", with::pool,
     [](subject& s) {
       scute_oid oid = 0;
       return scute_first(s.pool, SCUTE_TYPE_ANY, &oid);
     }},
    {"scute_next", with::pool,
     [](subject& s) {
       scute_oid oid = 0;
       return scute_next(s.pool, s.oid, SCUTE_TYPE_ANY, &oid);
     }},
    {"scute_locate", with::pool,
     [](subject& s) {
       auto l = sized<scute_location>();
       return scute_locate(s.pool, 0, &l);
     }},
    {"scute_offset_of", with::pool,
     [](subject& s) {
       uint64_t offset = 0;
       return scute_offset_of(s.pool, 0, 0, 0, &offset);
     }},
    {"scute_visit_chunks", with::pool,
     [](subject& s) {
       return scute_visit_chunks(s.pool, [](void*, const scute_chunk_info*) { return 0; }, nullptr);
     }},
    {"scute_get", with::pool,
     [](subject& s) { return given(scute_get(s.pool, s.oid) != nullptr); }},
    {"scute_get_verified", with::pool,
     [](subject& s) {
       const void* at = nullptr;
       return scute_get_verified(s.pool, s.oid, &at);
     }},
    {"scute_get_committed", with::pool,
     [](subject& s) {
       const void* at = nullptr;
       return scute_get_committed(s.pool, s.oid, 10, 20, &at);
     }},
    {"scute_direct_base", with::pool,
     [](subject& s) { return given(scute_direct_base(s.pool) != 0); }},
    {"scute_alloc_max", with::pool, [](subject& s) { return given(scute_alloc_max(s.pool) != 0); }},
    {"scute_object_info", with::pool,
     [](subject& s) { return scute_object_info(s.pool, s.oid, nullptr, nullptr, nullptr); }},
    {"scute_committed_info", with::pool,
     [](subject& s) { return scute_committed_info(s.pool, s.oid, nullptr, nullptr, nullptr); }},
    {"scute_overwrite_max", with::pool,
     [](subject& s) {
       uint64_t bytes = 0;
       return scute_overwrite_max(s.pool, &bytes);
     }},
    {"scute_tx_begin", with::pool, [](subject& s) { return scute_tx_begin(s.pool, &s.tx); }},
    {"scute_tx_commit", with::transaction,
     [](subject& s) {
       void* to = nullptr;
       if (const int e = scute_tx_open(s.tx, s.oid, &to); e != SCUTE_OK)
         return std::min(e, scute_tx_commit(std::exchange(s.tx, nullptr)));
       ++*static_cast<unsigned char*>(to);
       return scute_tx_commit(std::exchange(s.tx, nullptr));
     }},
    {"scute_tx_abort", with::transaction,
     [](subject& s) {
       void* to = nullptr;
       if (scute_tx_inplace(s.tx, s.oid, 0, 5000, &to) == SCUTE_OK) std::memset(to, 1, 5000);
       return scute_tx_abort(std::exchange(s.tx, nullptr));
     }},
    {"scute_tx_current", with::transaction,
     [](subject& s) { return given(scute_tx_current(s.pool) != nullptr); }},
    {"scute_tx_alloc", with::transaction,
     [](subject& s) {
       scute_oid oid = 0;
       return scute_tx_alloc(s.tx, 40'000, 1, &oid, nullptr);
     }},
    {"scute_tx_free", with::transaction, [](subject& s) { return scute_tx_free(s.tx, s.oid); }},
    {"scute_tx_open", with::transaction,
     [](subject& s) {
       void* to = nullptr;
       return scute_tx_open(s.tx, s.oid, &to);
     }},
    {"scute_tx_add_range", with::transaction,
     [](subject& s) {
       void* to = nullptr;
       return scute_tx_add_range(s.tx, s.oid, 10, 20, &to);
     }},
    {"scute_tx_inplace", with::transaction,
     [](subject& s) {
       void* to = nullptr;
       return scute_tx_inplace(s.tx, s.oid, 10, 20, &to);
     }},
    {"scute_tx_get", with::transaction,
     [](subject& s) {
       const void* at = nullptr;
       return scute_tx_get(s.tx, s.oid, &at);
     }},
    {"scute_tx_prefetch", with::transaction,
     [](subject& s) { return scute_tx_prefetch(s.tx, &s.oid, 1); }},
    {"scute_tx_get_range", with::transaction,
     [](subject& s) {
       const void* at = nullptr;
       return scute_tx_get_range(s.tx, s.oid, 10, 20, &at);
     }},
    {"scute_tx_reading", with::transaction,
     [](subject& s) { return given(scute_tx_reading(s.tx)->touched != UINT64_MAX); }},
    {"scute_obj_open", with::pool,
     [](subject& s) { return scute_obj_open(s.pool, s.oid, &s.buffer); }},
    {"scute_obj_commit", with::buffer,
     [](subject& s) {
       ++*static_cast<unsigned char*>(s.buffer);
       return scute_obj_commit(std::exchange(s.buffer, nullptr));
     }},
    {"scute_obj_discard", with::buffer,
     [](subject& s) {
       scute_obj_discard(std::exchange(s.buffer, nullptr));
       return 0;
     },
     true},
    {"scute_scrub", with::pool,
     [](subject& s) {
       auto r = sized<scute_report>();
       return scute_scrub(s.pool, nullptr, &r);
     }},
    {"scute_scrub_start", with::pool,
     [](subject& s) {
       const int e = scute_scrub_start(s.pool, nullptr);
       return e != SCUTE_OK ? e : scute_scrub_wait(s.pool, nullptr);
     }},
    {"scute_scrub_wait", with::scrub, [](subject& s) { return scute_scrub_wait(s.pool, nullptr); }},
    {"scute_scrub_stop", with::pool,
     [](subject& s) {
       scute_scrub_stop(s.pool);
       return 0;
     },
     true},
    {"scute_recovery_wait", with::pool,
     [](subject& s) { return scute_recovery_wait(s.pool, nullptr, nullptr); }},
    {"scute_recovery_progress", with::pool,
     [](subject& s) { return scute_recovery_progress(s.pool, nullptr, nullptr); }},
    {"scute_drain", with::pool, [](subject& s) { return scute_drain(s.pool); }},
    {"scute_inject", with::pool,
     [](subject& s) {
       scute_injection i;
       scute_injection_init(&i);
       i.kind = SCUTE_INJURE_LOSE_PAGE;
       i.offset = s.oid & 0x0000'ffff'ffff'f000u;
       return scute_inject(s.pool, &i, nullptr, nullptr, nullptr);
     }},
    {"scute_events", with::pool,
     [](subject& s) { return scute_events(s.pool, no_event, nullptr); }},
    {"scute_shield_add", with::nothing,
     [](subject& s) { return shielded_meanwhile(s, [](const char*) { return 0; }); }},
    {"scute_shield_remove", with::nothing,
     [](subject& s) { return shielded_meanwhile(s, [](const char*) { return 0; }); }},
    {"scute_shield_adopt", with::nothing,
     [](subject& s) {
       return shielded_meanwhile(
           s, [](const char* f) { return scute_shield_adopt(f, nullptr, 0, 0); });
     }},
    {"scute_shield_open", with::nothing,
     [](subject& s) {
       return shielded_meanwhile(s, [](const char* f) {
         scute_pool* p = nullptr;
         const int e = scute_shield_open(f, nullptr, &p);
         return and_close(e, p);
       });
     }},
    {"scute_shield_look", with::nothing,
     [](subject& s) {
       return shielded_meanwhile(s, [](const char* f) {
         scute_shield_condition condition{};
         const int e = scute_shield_look(f, &condition, nullptr);
         return e != SCUTE_OK ? e : condition == SCUTE_SHIELD_CLEAN ? SCUTE_OK : SCUTE_E_INVALID;
       });
     }},
    {"scute_shield_info", with::pool,
     [](subject& s) {
       auto state = sized<scute_shield_state>();
       return scute_shield_info(s.pool, &state);
     }},
    {"scute_shield_locate", with::pool,
     [](subject& s) {
       return not_foreign(scute_shield_locate(s.pool, 0, nullptr, nullptr, nullptr));
     }},
    {"scute_shield_read", with::pool,
     [](subject& s) {
       char byte = 0;
       return not_foreign(scute_shield_read(s.pool, 0, &byte, 1));
     }},
    {"scute_shield_write", with::pool,
     [](subject& s) { return not_foreign(scute_shield_write(s.pool, nullptr, 0)); }},
    {"scute_shield_replace", with::pool,
     [](subject& s) { return not_foreign(scute_shield_replace(s.pool, nullptr, 0)); }},
    {"scute_shield_grow", with::pool,
     [](subject& s) { return not_foreign(scute_shield_grow(s.pool, 1)); }},
    {"scute_shield_reserve", with::pool,
     [](subject& s) { return not_foreign(scute_shield_reserve(s.pool, 1)); }},
    {"scute_close", with::pool,
     [](subject& s) { return scute_close(std::exchange(s.pool, nullptr)); }},
};

TEST(every_call, HasEveryExportedFunction) {
  std::set<std::string> listed{"scute_errormsg", "scute_errorname", "scute_version",
                               "scute_options_init", "scute_options_set", "scute_options_from_env",
                               "scute_scrub_options_init", "scute_injection_init",
                               "scute_handle_fault",
                               // Processes of their own: tests/interpose.
                               "scute_shield_run", "scute_shield_run_options_init"};
  for (const every_call& c : calls) EXPECT_TRUE(listed.insert(c.name).second) << c.name;
  const std::string list =
      std::string("nm -D --defined-only --format=posix ") + build_folder + "/lib/libscute.so";
  FILE* nm = ::popen(list.c_str(), "r");
  ASSERT_NE(nm, nullptr);
  std::set<std::string> exported;
  char line[512];
  while (std::fgets(line, sizeof line, nm) != nullptr) {
    const std::string name(line, std::strcspn(line, "@ \n"));
    // Stores have no transactions and no pages that fault; their calls in a child:
    // tests/pow/calls_test.cpp.
    if (name.rfind("scute_pow_", 0) == 0) continue;
    if (name.rfind("scute_", 0) == 0) exported.insert(name);
  }
  ASSERT_EQ(::pclose(nm), 0);
  EXPECT_EQ(exported, listed);
}

}  // namespace

const std::vector<every_call>& every_call::all() {
  return calls;
}

}  // namespace scute::test
