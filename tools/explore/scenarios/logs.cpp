// SPDX-License-Identifier: BSD-3-Clause
// Logs at their limits: rings that go round, undo areas that
// are used again or continue in lent chunks, transactions that end in other ways than by a commit.
#include <stdexcept>

#include "scenarios/catalogue.hpp"
#include "scenarios/directory.hpp"
#include "scenarios/layout.hpp"

namespace scute::explore {
namespace {

// One object of so many bytes, and a small one.
testing::scenario start(const std::string& name, const level& l, uint64_t size) {
  auto s = with_directories(name + "/" + l.name, l.protection);
  s.setup([size](scute::pool& p) {
    make_directories(p);
    commit(p, 0, [&](change& c) {
      c.alloc(0, size, 1);
      c.alloc(1, 100, 2);
    });
  });
  return s;
}

// Begins a transaction, stores to a range in place, and leaves it open.
void leave_open(scute::pool& p, uint64_t slot, uint64_t at, uint64_t length, unsigned fill) {
  scute_tx* tx = nullptr;
  void* bytes = nullptr;
  const scute_oid oid = oid_of(p, 0, slot);
  scute::detail::check(scute_tx_begin(p.native_handle(), &tx));
  scute::detail::check(scute_tx_inplace(tx, oid, at, length, &bytes));
  fill_bytes(bytes, length, fill);
}

// Entries of such sizes that some find the place of their predecessor in their way.
testing::scenario ring(const level& l) {
  auto s = start("ring", l, 4000);
  constexpr uint64_t lengths[] = {200, 1700, 1500, 2500};
  for (unsigned k = 0; k < 12; ++k)
    s.step("edit " + std::to_string(lengths[k % 4]), [=](scute::pool& p) {
      commit(p, 0, [&](change& c) { c.edit(0, k % 3 * 7, lengths[k % 4], 30 + k); });
    });
  return s;
}

// More small ranges than the undo area holds.
testing::scenario undo_chain(const level& l) {
  auto s = start("undo-chain", l, 6000);
  for (unsigned k = 0; k < 2; ++k)
    s.step("12 ranges in place", [k](scute::pool& p) {
      commit(p, 0, [&](change& c) {
        for (unsigned i = 0; i < 12; ++i) c.edit_in_place(0, i * 450, 150, k * 20 + i);
      });
    });
  return s;
}

// The undo entries of an aborted transaction are still there when another lane writes the object.
testing::scenario undo_void(const level& l) {
  auto s = start("undo-void", l, 6000);
  s.lanes_in_turn();
  for (unsigned k = 0; k < 3; ++k) {
    s.step("in place, aborted", [k](scute::pool& p) {
      change c(p, 0);
      c.edit_in_place(0, 10, 100, 30 + k);
      c.edit_in_place(0, 4500, 300, 31 + k);
      c.abort();
    });
    s.step("overwrite by another lane",
           [k](scute::pool& p) { commit(p, 0, [&](change& c) { c.overwrite(0, 50 + k); }); });
  }
  return s;
}

// The last entry of one lane has bytes that another one then changes in place.
testing::scenario undo_lanes(const level& l) {
  auto s = start("undo-lanes", l, 9000);
  s.lanes_in_turn();
  for (unsigned k = 0; k < 4; ++k) {
    s.step("edit",
           [k](scute::pool& p) { commit(p, 0, [&](change& c) { c.edit(0, 5000, 200, 30 + k); }); });
    s.step("the same in place, by another lane", [k](scute::pool& p) {
      commit(p, 0, [&](change& c) { c.edit_in_place(0, 5000, 200, 50 + k); });
    });
  }
  return s;
}

// Between the stores in place and the commit the transaction makes steps: it prepares headers.
testing::scenario undo_steps(const level& l) {
  auto s = start("undo-steps", l, 9000);
  for (unsigned k = 0; k < 3; ++k)
    s.step("two ranges in place, and an allocation", [k](scute::pool& p) {
      commit(p, 0, [&](change& c) {
        c.edit_in_place(0, 5000, 200, 50 + k);
        c.edit_in_place(0, 5300, 300, 60 + k);
        c.alloc(2 + k, 300u << k, 70 + k);
      });
      expect(p, 0, 0, 5000, 200, 50 + k);
      expect(p, 0, 0, 5300, 300, 60 + k);
    });
  return s;
}

// The pool is closed inside a transaction.
testing::scenario close_inside(const level& l) {
  auto s = start("close-inside", l, 6000);
  for (unsigned k = 0; k < 2; ++k) {
    s.step_on_stage("close inside a transaction", [k](const testing::stage& at) {
      leave_open(at.pool(), 0, 4200, 500, 40 + k);
      at.close();
    });
    s.step_on_stage("open", [](const testing::stage& at) { at.open(); });
    s.step("change",
           [k](scute::pool& p) { commit(p, 0, [&](change& c) { c.overwrite(1, k + 5); }); });
  }
  return s;
}

// The process dies inside a transaction whose undo entries lie in lent chunks.
testing::scenario die_inside(const level& l) {
  auto s = start("die-inside", l, 12000);
  s.step_on_stage("die inside a transaction", [](const testing::stage& at) {
    leave_open(at.pool(), 0, 100, 9000, 40);
    at.abandon();
  });
  s.step_on_stage("open", [](const testing::stage& at) { at.open(); });
  s.step_on_stage("close and open", [](const testing::stage& at) {
    at.close();
    at.open();
  });
  s.step("check", [](scute::pool& p) {
    if (p.check(false).damaged != 0) throw std::runtime_error("the pool is damaged");
  });
  s.step("change", [](scute::pool& p) { commit(p, 0, [](change& c) { c.overwrite(1, 5); }); });
  return s;
}

// The same, and then one of the two copies of those undo entries is lost.
testing::scenario lost_link(const level& l) {
  auto s = start("lost-link", l, 12000);
  for (unsigned k = 0; k < 2; ++k)
    s.step_on_stage(
        "die inside a transaction, lose a lent chunk, open", [k](const testing::stage& at) {
          leave_open(at.pool(), 0, 100, 9000, 40 + k);
          at.abandon();
          const layout where(at);
          unsigned lent = 0;
          for (uint64_t i = 0; i < where.chunk_count; ++i)
            if (at.bytes()[where.chunk_header(i) + chunk_kind] == kind_log && lent++ == k)
              scribble(at, where.chunk(i) + 150, 300, 7);
          if (lent != 2) throw std::runtime_error("not two chunks were lent");
          at.open();
          expect(at.pool(), 0, 0, 0, 12000, 1);
        });
  s.step("change", [](scute::pool& p) { commit(p, 0, [](change& c) { c.overwrite(1, 5); }); });
  return s;
}

}  // namespace

void add_log_scenarios(std::vector<entry>& to) {
  add_at({levels[1], levels[3]},
         {{"ring", "a ring goes round, with entries that are in each other's way", ring},
          {"undo-chain", "an undo area continues in a lent chunk", undo_chain},
          {"undo-void", "aborts, and other lanes on the same object", undo_void},
          {"undo-lanes", "in place what the last entry of another lane has as well", undo_lanes},
          {"undo-steps", "steps inside a transaction with in-place ranges", undo_steps},
          {"close-inside", "a pool is closed inside a transaction", close_inside},
          {"die-inside", "a process dies inside a large in-place transaction", die_inside},
          {"lost-link", "the same, and a copy of the undo log is lost", lost_link}},
         to);
}

}  // namespace scute::explore
