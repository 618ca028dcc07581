// SPDX-License-Identifier: BSD-3-Clause
// The costs of each kind of operation, pinned in golden_cost.txt: fences, lines and bytes. A
// change there is a regression, or an improvement to be proud of (SCUTE_UPDATE_GOLDEN=1 writes
// the file again).
#include <gtest/gtest.h>

#include <functional>
#include <sstream>

#include "support/golden.hpp"
#include "support/pool_file.hpp"

namespace scute::test {
namespace {

std::string costs() {
  std::ostringstream out;
  out << "operation         protection  fences  lines   data  parity    log  metadata\n";
  constexpr struct {
    const char* name;
    pool_kind kind;
  } levels[] = {{"none", {SCUTE_PROTECT_NONE, SCUTE_ENGINE_REDO}},
                {"ml", {SCUTE_PROTECT_ML, SCUTE_ENGINE_REDO}},
                {"mlp", {SCUTE_PROTECT_MLP, SCUTE_ENGINE_REDO}},
                {"mlpc", {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_REDO}},
                {"logfree", {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE}},
                {"spec-none", {SCUTE_PROTECT_NONE, SCUTE_ENGINE_SPEC}},
                {"spec-ml", {SCUTE_PROTECT_ML, SCUTE_ENGINE_SPEC}},
                {"spec-mlp", {SCUTE_PROTECT_MLP, SCUTE_ENGINE_SPEC}},
                {"spec-mlpc", {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_SPEC}}};
  for (const auto& level : levels) {
    pool_file f;
    f.create(64 * mib, level.kind);
    f.in().idle.stop();  // its fences, and a checkpoint's, come at any moment
    const scute_oid small = f.alloc(pattern(1, 4096)), big = f.alloc(pattern(2, mib));
    std::vector<scute_oid> several;
    for (uint64_t i = 0; i < 8; ++i) several.push_back(f.alloc(pattern(10 + i, 400)));
    void* p = nullptr;
    scute_oid oid = 0;
    // The first allocation of a size class prepares its chunk; only later ones count.
    for (const uint64_t n : {64, 4096})
      for (int i = 0; i < 2; ++i) f.free(f.alloc(pattern(3, n)));
    enum class ends : uint8_t { committed, aborted };
    const auto run_to = [&](const char* name, ends how,
                            const std::vector<std::function<void(scute_tx*)>>& bodies) {
      const auto a = f.stats();
      for (const auto& body : bodies) {
        transaction tx(f);
        body(tx);
        if (how == ends::committed)
          SCUTE_OKAY_E(tx.commit());
        else
          tx.abort();
      }
      const auto b = f.stats();
      char line[200];
      std::snprintf(line, sizeof line, "%-17s %-10s %7d %6d %6d %7d %6d %9d\n", name, level.name,
                    static_cast<int>(b.fences - a.fences), static_cast<int>(b.lines - a.lines),
                    static_cast<int>(b.bytes_data - a.bytes_data),
                    static_cast<int>(b.bytes_parity - a.bytes_parity),
                    static_cast<int>(b.bytes_log - a.bytes_log),
                    static_cast<int>(b.bytes_metadata - a.bytes_metadata));
      out << line;
    };
    const auto run = [&](const char* name,
                         const std::vector<std::function<void(scute_tx*)>>& bodies) {
      run_to(name, ends::committed, bodies);
    };
    const auto change = [&](scute_oid o, uint64_t at, uint64_t n) {
      return [&, o, at, n](scute_tx* tx) {
        SCUTE_OKAY_E(scute_tx_add_range(tx, o, at, n, &p));
        for (uint64_t i = 0; i < n; ++i) static_cast<unsigned char*>(p)[i] ^= 0xff;
      };
    };
    run("nothing", {[](scute_tx*) {}});
    run("open, unchanged", {[&](scute_tx* tx) { SCUTE_OKAY_E(scute_tx_open(tx, small, &p)); }});
    run("overwrite 8", {change(small, 64, 8)});
    run("overwrite 64", {change(small, 64, 64)});
    run("overwrite 256", {change(small, 64, 256)});
    run("overwrite 4096", {change(small, 0, 4096)});
    run("8 of 1 MiB", {change(big, 500000, 8)});
    const auto change_in_place = [&](scute_oid o, uint64_t at, uint64_t n) {
      return [&, o, at, n](scute_tx* tx) {
        SCUTE_OKAY_E(scute_tx_inplace(tx, o, at, n, &p));
        for (uint64_t i = 0; i < n; ++i) static_cast<unsigned char*>(p)[i] ^= 0xff;
      };
    };
    run("in place 64", {change_in_place(small, 64, 64)});
    // Where a log has old bytes the first touch pays for them, and those after it do not.
    run("in place, cold", {change_in_place(big, 300000, 64)});
    run("in place, again", {change_in_place(big, 300000, 64)});
    run_to("abort", ends::aborted, {change(small, 1000, 64)});
    run_to("abort in place", ends::aborted, {change_in_place(big, 300000, 64)});
    // One after the other: what a transaction leaves to the next one's fence shows here only.
    run("8 times 256",
        {change(several[0], 64, 256), change(several[1], 64, 256), change(several[2], 64, 256),
         change(several[3], 64, 256), change(several[4], 64, 256), change(several[5], 64, 256),
         change(several[6], 64, 256), change(several[7], 64, 256)});
    run("2 objects 64", {[&](scute_tx* tx) {
          change(several[0], 64, 64)(tx);
          change(several[1], 64, 64)(tx);
        }});
    for (const uint64_t n : {64, 4096}) {
      const std::string name = std::to_string(n);
      run(("alloc " + name).c_str(), {[&](scute_tx* tx) {
            SCUTE_OKAY_E(scute_tx_alloc(tx, n, 1, &oid, &p));
            std::memcpy(p, pattern(9, n).data(), n);
          }});
      run(("free " + name).c_str(), {[&](scute_tx* tx) { SCUTE_OKAY_E(scute_tx_free(tx, oid)); }});
    }
  }
  return out.str();
}

TEST(cost, OfEachOperationIsPinned) {
  compare_golden("tests/engine/golden_cost.txt", costs(), "what operations cost");
}

}  // namespace
}  // namespace scute::test
