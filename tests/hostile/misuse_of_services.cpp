// SPDX-License-Identifier: BSD-3-Clause
// Misuse of scrubs, recovery, events, damage on purpose.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <csignal>

#include "hostile/misuse_list.hpp"

namespace scute::test {
namespace {

using stage = misuse_stage;

// ---- events -------------------------------------------------------------------------------------

void events(stage& s) {
  const auto count = [](void* arg, const scute_event*) { ++*static_cast<int*>(arg); };
  int n = 0;
  REFUSED(SCUTE_E_INVALID, scute_events(nullptr, count, &n));
  REFUSED(SCUTE_E_INVALID, scute_events(s.pool, nullptr, &n));
  SCUTE_OKAY(scute_events(s.pool, count, &n));
  SCUTE_OKAY(scute_events(s.read_only, count, nullptr));
  EXPECT_EQ(n, 0);
}

void scrub_options_init(stage&) {
  scute_scrub_options_init(nullptr);
}

scute_scrub_options scrub_defaults() {
  scute_scrub_options o;
  scute_scrub_options_init(&o);
  return o;
}

void scrub(stage& s) {
  scute_report r{};
  REFUSED(SCUTE_E_INVALID, scute_scrub(nullptr, nullptr, &r));
  REFUSED(SCUTE_E_INVALID, scute_scrub(s.pool, nullptr, nullptr));
  REFUSED(SCUTE_E_INVALID, scute_scrub(s.pool, nullptr, &r));  // without struct_size
  r.struct_size = sizeof r;
  auto o = scrub_defaults();
  o.struct_size = 0;
  REFUSED(SCUTE_E_INVALID, scute_scrub(s.pool, &o, &r));
  o = scrub_defaults();
  o.threads = 100000;
  REFUSED(SCUTE_E_INVALID, scute_scrub(s.pool, &o, &r));
  const transaction tx(s.pool);
  REFUSED(SCUTE_E_INVALID, scute_scrub(s.pool, nullptr, &r));
}

void scrub_start(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_scrub_start(nullptr, nullptr));
  auto o = scrub_defaults();
  o.struct_size = 1;
  REFUSED(SCUTE_E_INVALID, scute_scrub_start(s.pool, &o));
}

void scrub_wait(stage& s) {
  scute_report r{};
  REFUSED(SCUTE_E_INVALID, scute_scrub_wait(nullptr, nullptr));
  REFUSED(SCUTE_E_INVALID, scute_scrub_wait(s.pool, &r));  // without struct_size
  REFUSED(SCUTE_E_NOENT, scute_scrub_wait(s.pool, nullptr));
  const transaction tx(s.pool);
  REFUSED(SCUTE_E_INVALID, scute_scrub_wait(s.pool, nullptr));
}

void scrub_stop(stage& s) {
  scute_scrub_stop(nullptr);
  scute_scrub_stop(s.pool);
}

// ---- recovery of log-free pools -----------------------------------------------------------------

// A pool after a crash that nothing has resolved yet.
struct unresolved_pool : pool_file {
  unresolved_pool() {
    create(mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE});
    const scute_oid oid = alloc(pattern(1, 100));
    const bytes crash = read_file(path);
    close();
    write_file(path, crash);
    open(SCUTE_LAZY_RECOVERY);
    EXPECT_TRUE(read(oid) == pattern(1, 100));
  }
};

void recovery_wait(stage& s) {
  bool called = false;
  const auto note = [](void* arg, const char*, uint64_t, uint64_t) {
    *static_cast<bool*>(arg) = true;
  };
  REFUSED(SCUTE_E_INVALID, scute_recovery_wait(nullptr, note, &called));
  unresolved_pool f;
  const uint64_t pending = f.info().unresolved;
  EXPECT_GT(pending, 0u);
  for (pool_file* mine : {static_cast<pool_file*>(&f), &s.pool}) {
    const transaction tx(*mine);
    REFUSED(SCUTE_E_INVALID, scute_recovery_wait(f, note, &called));
    REFUSED(SCUTE_E_INVALID, scute_recovery_wait(s.pool, note, &called));
  }
  EXPECT_FALSE(called);
  EXPECT_EQ(f.info().unresolved, pending) << "a refused call went to work";
  SCUTE_OKAY(scute_recovery_wait(f, note, &called));
  EXPECT_TRUE(called);
  EXPECT_EQ(f.info().unresolved, 0u);
  // Nothing is pending: no calls, and no complaints.
  called = false;
  SCUTE_OKAY(scute_recovery_wait(f, note, &called));
  SCUTE_OKAY(scute_recovery_wait(s.read_only, note, &called));
  EXPECT_FALSE(called);
}

void recovery_progress(stage& s) {
  uint64_t total = stage::poison_number;
  REFUSED(SCUTE_E_INVALID, scute_recovery_progress(nullptr, &s.number, &total));
  EXPECT_EQ(total, stage::poison_number);
  unresolved_pool f;
  SCUTE_OKAY(scute_recovery_progress(f, nullptr, nullptr));
  uint64_t done = stage::poison_number;
  SCUTE_OKAY(scute_recovery_progress(f, &done, nullptr));
  SCUTE_OKAY(scute_recovery_progress(f, nullptr, &total));
  EXPECT_EQ(total - done, f.info().unresolved);
}

void drain(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_drain(nullptr));
  SCUTE_OKAY(scute_drain(s.read_only));
  // During a transaction, a drain leaves uncommitted changes alone.
  transaction tx(s.pool);
  void* at = nullptr;
  SCUTE_OKAY(scute_tx_open(tx, s.live, &at));
  std::memset(at, 1, 100);
  SCUTE_OKAY(scute_tx_inplace(tx, s.big, 0, 64, &at));
  std::memset(at, 1, 64);
  SCUTE_OKAY(scute_drain(s.pool));
  SCUTE_OKAY(scute_drain(s.other));
  SCUTE_OKAY(tx.abort());
}

// ---- damage on purpose --------------------------------------------------------------------------

void injection_init(stage&) {
  scute_injection_init(nullptr);
}

void inject(stage& s) {
  const auto with = [&](int error, auto&& change) {
    scute_injection i;
    scute_injection_init(&i);
    change(i);
    REFUSED(error, scute_inject(s.pool, &i, nullptr, nullptr, nullptr));
  };
  scute_injection i;
  scute_injection_init(&i);
  REFUSED(SCUTE_E_INVALID, scute_inject(nullptr, &i, nullptr, nullptr, nullptr));
  REFUSED(SCUTE_E_INVALID, scute_inject(s.pool, nullptr, nullptr, nullptr, nullptr));
  REFUSED(SCUTE_E_READONLY, scute_inject(s.read_only, &i, nullptr, nullptr, nullptr));
  with(SCUTE_E_INVALID, [](auto& x) { x.struct_size = 0; });
  with(SCUTE_E_INVALID, [](auto& x) { x.kind = static_cast<scute_injury>(9); });
  with(SCUTE_E_INVALID, [](auto& x) { x.bits = 7; });
  with(SCUTE_E_INVALID, [](auto& x) { x.region = 77; });
  with(SCUTE_E_RANGE, [](auto& x) { x.offset = uint64_t{1} << 60; });
}

void handle_fault(stage& s) {
  EXPECT_EQ(scute_handle_fault(SIGSEGV, nullptr, nullptr), 0);
  siginfo_t info{};
  info.si_addr = const_cast<void*>(scute_get(s.pool, s.oid));
  info.si_code = SI_USER;  // a process sent it (FAULT-2)
  EXPECT_EQ(scute_handle_fault(SIGSEGV, &info, nullptr), 0);
  info.si_code = SEGV_MAPERR;  // no page of a pool's
  EXPECT_EQ(scute_handle_fault(SIGSEGV, &info, nullptr), 0);
  info.si_code = SEGV_ACCERR;
  EXPECT_EQ(scute_handle_fault(SIGFPE, &info, nullptr), 0);
  info.si_addr = &info;
  EXPECT_EQ(scute_handle_fault(SIGSEGV, &info, nullptr), 0);
}

}  // namespace

#define MISUSE(name) {"scute_" #name, name}
void list_misuse_of_services(misuse_list& to) {
  to.insert({MISUSE(scrub_options_init), MISUSE(scrub), MISUSE(scrub_start), MISUSE(scrub_wait),
             MISUSE(scrub_stop), MISUSE(recovery_wait), MISUSE(recovery_progress), MISUSE(drain),
             MISUSE(injection_init), MISUSE(inject), MISUSE(handle_fault), MISUSE(events)});
}

}  // namespace scute::test
