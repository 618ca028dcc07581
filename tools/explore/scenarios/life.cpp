// SPDX-License-Identifier: BSD-3-Clause
// The life of a pool: created, used, closed, opened again, left by a dying process; and the copies
// of its superblock, which are rewritten each time.
#include "scenarios/catalogue.hpp"
#include "scenarios/directory.hpp"

namespace scute::explore {
namespace {

testing::scenario create(const level& l) {
  testing::scenario s(std::string("create/") + l.name, testing::small_pool(l.protection));
  s.without_pool();
  s.step_on_stage("create", [](const testing::stage& at) { at.create(); });
  s.step("make the root", [](scute::pool& p) {
    scute_oid root = SCUTE_OID_NULL;
    scute::detail::check(scute_root(p.native_handle(), 500, 1, &root));
  });
  s.step_on_stage("close", [](const testing::stage& at) { at.close(); });
  s.step_on_stage("open", [](const testing::stage& at) { at.open(); });
  s.observe([](scute::pool& p) {
    scute_oid root = SCUTE_OID_NULL;
    const int e = scute_root(p.native_handle(), 0, 1, &root);
    if (e == SCUTE_E_NOENT) return std::string("no root");
    scute::detail::check(e);
    uint64_t size = 0;
    scute::detail::check(scute_object_info(p.native_handle(), root, &size, nullptr, nullptr));
    return "a root of " + std::to_string(size) + " bytes";
  });
  return s;
}

testing::scenario start(const std::string& name, testing::pool_kind protection) {
  testing::scenario s(name, testing::small_pool(protection));
  s.setup([](scute::pool& p) {
    make_directories(p);
    commit(p, 0, [](change& c) {
      c.alloc(0, 300, 1);
      c.alloc(1, 5000, 2);
      c.alloc(2, 20000, 3);
    });
  });
  s.observe([](scute::pool& p) { return contents(p, 0); });
  return s;
}

testing::scenario reopen(const level& l) {
  auto s = start(std::string("reopen/") + l.name, l.protection);
  s.lanes_in_turn();
  for (unsigned k = 0; k < 4; ++k) {
    s.step("change", [k](scute::pool& p) {
      commit(p, 0, [&](change& c) {
        c.overwrite(0, 10 + k);
        c.edit(1, 4000, 200, 20 + k);
      });
    });
    s.step_on_stage("close", [](const testing::stage& at) { at.close(); });
    s.step_on_stage("open", [](const testing::stage& at) { at.open(); });
  }
  return s;
}

// The process dies in the middle; the next one recovers what it left in the caches, and continues.
testing::scenario killed(const level& l) {
  auto s = start(std::string("killed/") + l.name, l.protection);
  s.lanes_in_turn();
  for (unsigned k = 0; k < 4; ++k) {
    s.step("change", [k](scute::pool& p) {
      commit(p, 0, [&](change& c) {
        c.edit(0, 0, 48, 10 + k);
        c.edit_in_place(1, 4000, 300, 20 + k);
      });
    });
    s.step("change the same",
           [k](scute::pool& p) { commit(p, 0, [&](change& c) { c.edit(0, 0, 48, 30 + k); }); });
    s.step_on_stage("the process dies, and the next one opens the pool",
                    [](const testing::stage& at) {
                      at.abandon();
                      at.open();
                    });
  }
  return s;
}

// A copy of the superblock is damaged, another one after a while: opening and closing rewrite all
// three, so the pool must never be without one.
testing::scenario superblock(const level& l) {
  auto s = start(std::string("superblock/") + l.name, l.protection);
  for (unsigned k = 0; k < 6; ++k) {
    s.step_on_stage("damage a copy of the superblock", [k](const testing::stage& at) {
      const uint64_t size = at.bytes().size();
      const uint64_t copies[] = {0, 4096, size - 4096};
      std::byte noise[512];
      fill_bytes(noise, sizeof noise, 100 + k);
      at.damage(copies[k % 3], noise);
    });
    if (k % 2 == 0) {
      s.step_on_stage("close", [](const testing::stage& at) { at.close(); });
    } else {
      s.step_on_stage("die", [](const testing::stage& at) { at.abandon(); });
    }
    s.step_on_stage("open", [](const testing::stage& at) { at.open(); });
    s.step("change",
           [k](scute::pool& p) { commit(p, 0, [&](change& c) { c.overwrite(0, 40 + k); }); });
  }
  return s;
}

}  // namespace

void add_life_scenarios(std::vector<entry>& to) {
  add_at_all_levels({{"create", "a pool comes into being", create},
                     {"reopen", "closed and opened again, with changes in between", reopen},
                     {"killed", "processes die, others continue", killed},
                     {"superblock", "copies of the superblock are damaged", superblock}},
                    to);
}

}  // namespace scute::explore
