// SPDX-License-Identifier: BSD-3-Clause
// Settings of ThreadSanitizer for this program.
#if defined(__SANITIZE_THREAD__)

// It sees only half of the peers' synchronization, as they are built without it, and would report
// the rest as races.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libpmemobj.so\n"
         "called_from_lib:liblmdb.so\n"
         "called_from_lib:libsqlite3.so\n";
}

// The recovery benchmarks fork writers that open pools, which have threads of their own.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() {
  return "die_after_fork=0";
}

#endif
