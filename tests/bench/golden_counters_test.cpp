// SPDX-License-Identifier: BSD-3-Clause
// The exact costs of an operation: fences, cache lines and bytes by purpose, for each level of
// protection. The numbers follow from the format and the protocol, not from the machine. So a
// change of them is a change of the product, and belongs into the commit that makes it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "c_api/pool/guard.hpp"
#include "scute/scute.h"
#include "support/project_paths.hpp"

namespace scute::test {
using namespace core;
namespace {

constexpr unsigned operations = 16;
constexpr unsigned warm_up = 64;

const std::string golden_path = source_path("tests/bench/golden_counters.txt");

constexpr const char* head =
    "# Totals of 16 operations, one transaction each, made by "
    "tests/bench/golden_counters_test.cpp.\n"
    "# alloc_first: the first of their size class in a pool, so with the preparation of their "
    "slots.\n"
    "# free_overwritten: objects that were overwritten before. The other rows are the steady "
    "state.\n"
    "# none to mlpc: engine redo. logfree: mlpc, engine logfree; logfree-2: with two parity rows.\n"
    "# After a wanted change: SCUTE_UPDATE_GOLDEN=1 ./dev test -R golden_counters\n"
    "# protection operation size: fences lines data parity log metadata\n";

class counting_pool {
 public:
  counting_pool(scute_protection level, scute_engine engine, uint32_t parity) {
    scute_options o;
    scute_options_init(&o);
    o.size = uint64_t{64} << 20;
    // Lines and fences are counted where CPU instructions make them, whatever the file system.
    o.medium = SCUTE_MEDIUM_RAM;
    o.protection = level;
    o.engine = engine;
    o.parity = parity;
    o.lanes = 4;
    o.flags = SCUTE_OVERWRITE;
    path_ =
        (std::filesystem::temp_directory_path() / ("scute-golden." + std::to_string(::getpid())))
            .string();
    check(scute_create(path_.c_str(), &o, &pool_));
    pool_->in->idle.stop();  // it works at any moment
  }
  ~counting_pool() {
    scute_close(pool_);
    ::unlink(path_.c_str());
  }
  counting_pool(const counting_pool&) = delete;
  counting_pool& operator=(const counting_pool&) = delete;

  void alloc(uint64_t size, unsigned n) {
    for (unsigned i = 0; i < n; ++i) {
      scute_tx* tx = nullptr;
      void* bytes = nullptr;
      scute_oid oid = 0;
      check(scute_tx_begin(pool_, &tx));
      check(scute_tx_alloc(tx, size, 1, &oid, &bytes));
      std::memset(bytes, ++fill_, size);
      check(scute_tx_commit(tx));
      objects_.push_back(oid);
    }
  }
  void overwrite(uint64_t size, unsigned n) {
    ++fill_;  // every byte changes
    for (unsigned i = 0; i < n; ++i) {
      scute_tx* tx = nullptr;
      void* bytes = nullptr;
      check(scute_tx_begin(pool_, &tx));
      check(scute_tx_open(tx, objects_[objects_.size() - 1 - i], &bytes));
      std::memset(bytes, fill_ + static_cast<int>(100 + i), size);
      check(scute_tx_commit(tx));
    }
  }
  void free(unsigned n) {
    for (unsigned i = 0; i < n; ++i) {
      scute_tx* tx = nullptr;
      check(scute_tx_begin(pool_, &tx));
      check(scute_tx_free(tx, objects_.back()));
      check(scute_tx_commit(tx));
      objects_.pop_back();
    }
  }
  scute_counters counters() {
    scute_counters c{};
    c.struct_size = sizeof c;
    const int lane = scute_thread_lane(pool_);
    if (lane >= 0) check(scute_stats_lane(pool_, static_cast<uint32_t>(lane), &c));
    return c;
  }

 private:
  static void check(int rc) { ASSERT_GE(rc, 0) << scute_errormsg(); }

  std::string path_;
  scute_pool* pool_ = nullptr;
  std::vector<scute_oid> objects_;
  int fill_ = 0;
};

std::string measure() {
  std::ostringstream out;
  out << head;
  constexpr struct {
    scute_protection level;
    scute_engine engine;
    uint32_t parity;
    const char* name;
  } kinds[] = {{SCUTE_PROTECT_NONE, SCUTE_ENGINE_REDO, 0, "none"},
               {SCUTE_PROTECT_ML, SCUTE_ENGINE_REDO, 0, "ml"},
               {SCUTE_PROTECT_MLP, SCUTE_ENGINE_REDO, 1, "mlp"},
               {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_REDO, 1, "mlpc"},
               {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE, 1, "logfree"},
               {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE, 2, "logfree-2"}};
  for (const auto& kind : kinds) {
    counting_pool pool(kind.level, kind.engine, kind.parity);
    const char* name = kind.name;
    const auto row = [&](const char* operation, uint64_t size, auto&& run) {
      const scute_counters a = pool.counters();
      run();
      const scute_counters b = pool.counters();
      out << name << ' ' << operation << ' ' << size << ": " << b.fences - a.fences << ' '
          << b.lines - a.lines << ' ' << b.bytes_data - a.bytes_data << ' '
          << b.bytes_parity - a.bytes_parity << ' ' << b.bytes_log - a.bytes_log << ' '
          << b.bytes_metadata - a.bytes_metadata << '\n';
    };
    for (const uint64_t size : {64, 256, 1024, 4096}) {
      row("alloc_first", size, [&] { pool.alloc(size, operations); });
      // More objects than are measured, so that there are plenty of freed slots.
      pool.alloc(size, warm_up);
      pool.overwrite(size, warm_up);
      pool.free(warm_up);
      row("alloc", size, [&] { pool.alloc(size, operations); });
      row("overwrite", size, [&] { pool.overwrite(size, operations); });
      row("free_overwritten", size, [&] { pool.free(operations); });
      pool.alloc(size, operations);
      row("free", size, [&] { pool.free(operations); });
    }
  }
  return out.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(GoldenCounters, CostOfEachOperation) {
  const std::string now = measure();
  ASSERT_FALSE(HasFailure());
  if (const char* update = std::getenv("SCUTE_UPDATE_GOLDEN");
      update != nullptr && std::string(update) == "1") {
    std::ofstream(golden_path, std::ios::trunc) << now;
  }
  std::ifstream in(golden_path);
  ASSERT_TRUE(in) << "cannot read " << golden_path;
  std::stringstream golden;
  golden << in.rdbuf();

  const auto want = lines_of(golden.str()), have = lines_of(now);
  std::string diff;
  for (size_t i = 0; i < std::max(want.size(), have.size()); ++i) {
    const std::string w = i < want.size() ? want[i] : "", h = i < have.size() ? have[i] : "";
    if (w != h) diff += "- " + w + "\n+ " + h + "\n";
  }
  EXPECT_EQ(diff, "")
      << "The cost of operations changed (- golden, + now; fences lines data parity "
         "log metadata).\nIf that is wanted: SCUTE_UPDATE_GOLDEN=1 ./dev test -R "
         "golden_counters, and commit "
      << golden_path;
}

// Nothing but the sequence of operations decides: not the pool's random salt, nor its addresses.
TEST(GoldenCounters, SameEveryTime) {
  EXPECT_EQ(measure(), measure());
}

}  // namespace
}  // namespace scute::test
