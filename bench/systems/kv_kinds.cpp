// SPDX-License-Identifier: BSD-3-Clause
#include "systems/kv_system.hpp"

namespace scute::bench {

void kv_system::load(uint64_t, uint64_t) {
  throw std::logic_error("no system for kv_load");
}

const std::vector<kv_kind>& kv_kinds() {
  static const std::vector<kv_kind> kinds{
      {"redo-none", "scute", "redo-none", "", make_scute_kv},
      {"redo-mlpc", "scute", "redo-mlpc", "", make_scute_kv},
      {"logfree-mlpc", "scute", "logfree-mlpc", "", make_scute_kv},
      {"spec-none", "scute", "spec-none", "", make_scute_kv},
      {"spec-mlpc", "scute", "spec-mlpc", "", make_scute_kv},
      {"pow", "scute", "pow", "", make_pow_kv},
      {"pow-none", "scute", "pow-none", "", make_pow_kv},
#ifdef SCUTE_BENCH_HAVE_LMDB
      {"lmdb", "lmdb", "writemap",
       "LMDB, MDB_WRITEMAP, a transaction per record, or per thousand; kv_put and kv_load only",
       make_lmdb},
#endif
#ifdef SCUTE_BENCH_HAVE_SQLITE
      {"sqlite", "sqlite", "wal-full", "SQLite, WAL, synchronous=FULL; kv_put and kv_load only",
       make_sqlite},
#endif
#if defined(SCUTE_BENCH_HAVE_ROCKSDB) && !defined(__SANITIZE_THREAD__)
      {"rocksdb", "rocksdb", "sync", "RocksDB, synchronous writes; kv_put and kv_load only",
       make_rocksdb},
#endif
      {"pwrite", "pwrite", "fdatasync", "pwrite and fdatasync, not atomic; kv_put only",
       make_pwrite, false},
  };
  return kinds;
}

}  // namespace scute::bench
