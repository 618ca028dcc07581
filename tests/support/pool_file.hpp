// SPDX-License-Identifier: BSD-3-Clause
// A pool in a scratch folder, driven through the C interface, with a view of its inside.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "c_api/pool/guard.hpp"
#include "scute/scute.h"
#include "support/engines.hpp"
#include "support/scratch.hpp"

// The call must succeed; the library's message explains it if not.
#define SCUTE_OKAY(...) ASSERT_EQ(SCUTE_OK, (__VA_ARGS__)) << scute_errormsg()
#define SCUTE_OKAY_E(...) EXPECT_EQ(SCUTE_OK, (__VA_ARGS__)) << scute_errormsg()
// The call must fail with this code, and say something.
#define SCUTE_FAILS(code, ...)                                                    \
  do {                                                                            \
    const int scute_result = (__VA_ARGS__);                                       \
    EXPECT_EQ(code, scute_result) << scute_errorname(scute_result) << ": "        \
                                  << (scute_result != 0 ? scute_errormsg() : ""); \
    if (scute_result != 0) {                                                      \
      EXPECT_STRNE("", scute_errormsg());                                         \
    }                                                                             \
  } while (false)

namespace scute::test {
using namespace core;

inline constexpr uint64_t kib = 1024, mib = kib * 1024, gib = mib * 1024;

// A protection level, and an engine and a number of parities if not those that the library chooses
// for it.
struct pool_kind {
  scute_protection protection;
  scute_engine engine;
  uint32_t parity;
  bool roomy = false;  // with spec: larger by its log
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr pool_kind(scute_protection p = SCUTE_PROTECT_MLPC, scute_engine e = SCUTE_ENGINE_AUTO,
                      uint32_t rows_of_parity = 0)
      : protection(p), engine(e), parity(rows_of_parity) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr operator scute_protection() const { return protection; }
};

// A test that leaves the engine of a pool to the run says so by leaving it out of the kind;
// engines.hpp has the run's.
inline scute_options options(uint64_t size = mib, pool_kind kind = {},
                             scute_checksum c = SCUTE_CHECKSUM_CRC32C) {
  scute_options o;
  scute_options_init(&o);
  o.size = size;
  o.protection = kind.protection;
  o.engine = kind.engine;
  o.parity = kind.parity;
  if (kind.engine == SCUTE_ENGINE_AUTO)
    if (const char* engine = engine_of_run()) {
      EXPECT_EQ(SCUTE_OK, scute_options_set(&o, "engine", engine)) << scute_errormsg();
      kind.roomy = true;
    }
  // As much room for objects as with the others: its log takes an eighth of a small pool.
  if (kind.roomy && o.engine == SCUTE_ENGINE_SPEC)
    o.size += std::max(size / 6 / 4096 * 4096, mib / 4);
  o.checksum = c;
  return o;
}

// For opening a pool as it is.
inline scute_options opening(uint32_t flags = 0, scute_medium medium = SCUTE_MEDIUM_AUTO) {
  scute_options o;
  scute_options_init(&o);
  o.flags = flags;
  o.medium = medium;
  return o;
}

// For suites that run once per protection level, with each engine that has it.
inline constexpr pool_kind with_spec(scute_protection p, uint32_t rows_of_parity = 0) {
  pool_kind k(p, SCUTE_ENGINE_SPEC, rows_of_parity);
  k.roomy = true;
  return k;
}
inline const auto every_protection = ::testing::Values(
    pool_kind(SCUTE_PROTECT_NONE, SCUTE_ENGINE_REDO),
    pool_kind(SCUTE_PROTECT_ML, SCUTE_ENGINE_REDO), pool_kind(SCUTE_PROTECT_MLP, SCUTE_ENGINE_REDO),
    pool_kind(SCUTE_PROTECT_MLPC, SCUTE_ENGINE_REDO),
    pool_kind(SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE),
    pool_kind(SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE, 3), with_spec(SCUTE_PROTECT_NONE),
    with_spec(SCUTE_PROTECT_ML), with_spec(SCUTE_PROTECT_MLP), with_spec(SCUTE_PROTECT_MLPC),
    with_spec(SCUTE_PROTECT_MLPC, 4));
inline std::string protection_name(const ::testing::TestParamInfo<pool_kind>& p) {
  constexpr const char* names[] = {"none", "ml", "mlp", "mlpc"};
  const std::string rows = p.param.parity > 1 ? std::to_string(p.param.parity) : "";
  if (p.param.engine == SCUTE_ENGINE_LOGFREE) return "logfree" + rows;
  if (p.param.engine == SCUTE_ENGINE_SPEC)
    return std::string("spec_") + names[p.param.protection] + rows;
  return names[p.param.protection];
}
inline const auto every_engine =
    ::testing::Values(SCUTE_ENGINE_REDO, SCUTE_ENGINE_LOGFREE, SCUTE_ENGINE_SPEC);
inline std::string engine_name(const ::testing::TestParamInfo<scute_engine>& p) {
  return p.param == SCUTE_ENGINE_REDO ? "redo" : p.param == SCUTE_ENGINE_SPEC ? "spec" : "logfree";
}

// Bytes that are easy to tell apart: a function of the key and the position.
inline bytes pattern(uint64_t key, size_t n) {
  bytes b(n);
  uint64_t x = key * 0x9e3779b97f4a7c15u + 1;
  for (size_t i = 0; i < n; ++i) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    b[i] = static_cast<unsigned char>(x >> 32);
  }
  return b;
}

class pool_file {
 public:
  explicit pool_file(scratch::where w = scratch::memory) : dir(w), path(dir.file("pool")) {}
  ~pool_file() { scute_close(pool); }

  void create(const scute_options& o) { SCUTE_OKAY(scute_create(path.c_str(), &o, &pool)); }
  void create(uint64_t size = mib, pool_kind kind = {}, scute_checksum c = SCUTE_CHECKSUM_CRC32C) {
    create(options(size, kind, c));
  }
  int try_open(uint32_t flags = 0) {
    const scute_options o = opening(flags);
    return scute_open(path.c_str(), &o, &pool);
  }
  void open(uint32_t flags = 0) { SCUTE_OKAY(try_open(flags)); }
  void close() {
    SCUTE_OKAY_E(scute_close(pool));
    pool = nullptr;
  }
  void reopen(uint32_t flags = 0) {
    close();
    open(flags);
  }

  instance& in() const { return *pool->in; }
  operator scute_pool*() const { return pool; }
  std::byte* raw(uint64_t offset) const { return in().s.at(offset); }
  uint64_t offset_of(scute_oid oid) const { return oid & 0x0000'ffff'ffff'ffffu; }

  scute_oid alloc(const bytes& content, uint32_t type = 1) {
    scute_tx* tx = nullptr;
    scute_oid oid = 0;
    void* to = nullptr;
    SCUTE_OKAY_E(scute_tx_begin(pool, &tx));
    const int e = scute_tx_alloc(tx, content.size(), type, &oid, &to);
    if (e != SCUTE_OK) {
      scute_tx_abort(tx);
      return 0;
    }
    std::memcpy(to, content.data(), content.size());
    if (scute_tx_commit(tx) != SCUTE_OK) return 0;
    return oid;
  }
  void overwrite(scute_oid oid, const bytes& content) {
    scute_tx* tx = nullptr;
    void* to = nullptr;
    SCUTE_OKAY(scute_tx_begin(pool, &tx));
    SCUTE_OKAY(scute_tx_open(tx, oid, &to));
    std::memcpy(to, content.data(), content.size());
    SCUTE_OKAY(scute_tx_commit(tx));
  }
  int free(scute_oid oid) {
    scute_tx* tx = nullptr;
    if (const int e = scute_tx_begin(pool, &tx); e != SCUTE_OK) return e;
    if (const int e = scute_tx_free(tx, oid); e != SCUTE_OK) {
      scute_tx_abort(tx);
      return e;
    }
    return scute_tx_commit(tx);
  }
  // The object's bytes after verification.
  bytes read(scute_oid oid) {
    const void* at = nullptr;
    uint64_t size = 0;
    SCUTE_OKAY_E(scute_get_verified(pool, oid, &at));
    SCUTE_OKAY_E(scute_object_info(pool, oid, &size, nullptr, nullptr));
    if (at == nullptr) return {};
    const auto* p = static_cast<const unsigned char*>(at);
    return bytes(p, p + size);
  }

  scute_report check(bool repair = false, std::vector<std::string>* findings = nullptr) {
    scute_report r{};
    r.struct_size = sizeof r;
    const auto note = [](void* arg, const char* what, uint64_t offset, uint64_t length, scute_oid,
                         int repaired) {
      if (arg != nullptr)
        static_cast<std::vector<std::string>*>(arg)->push_back(
            std::string(what) + " at " + std::to_string(offset) + "+" + std::to_string(length) +
            (repaired != 0 ? " (repaired)" : ""));
    };
    SCUTE_OKAY_E(scute_check(pool, repair ? 1 : 0, &r, note, nullptr, findings));
    return r;
  }
  // POOL-1 and POOL-2: nothing is wrong anywhere.
  void expect_sound() {
    std::vector<std::string> findings;
    const scute_report r = check(false, &findings);
    EXPECT_EQ(r.damaged, 0u);
    for (size_t i = 0; i < findings.size() && i < 5; ++i) ADD_FAILURE() << findings[i];
  }
  uint64_t objects() { return check().objects; }

  scute_info info() {
    scute_info i{};
    i.struct_size = sizeof i;
    SCUTE_OKAY_E(scute_pool_info(pool, &i));
    return i;
  }
  scute_counters stats() {
    scute_counters c{};
    c.struct_size = sizeof c;
    SCUTE_OKAY_E(scute_stats(pool, &c));
    return c;
  }

  scratch dir;
  std::string path;
  scute_pool* pool = nullptr;
};

// A transaction of this thread that ends with its scope.
class transaction {
 public:
  explicit transaction(scute_pool* pool) { SCUTE_OKAY_E(scute_tx_begin(pool, &tx)); }
  ~transaction() {
    if (tx != nullptr) scute_tx_abort(tx);
  }
  transaction(const transaction&) = delete;
  transaction& operator=(const transaction&) = delete;
  int commit() { return scute_tx_commit(std::exchange(tx, nullptr)); }
  int abort() { return scute_tx_abort(std::exchange(tx, nullptr)); }
  operator scute_tx*() const { return tx; }

  scute_tx* tx = nullptr;
};

}  // namespace scute::test
